#include "cuda/triangle/survivors.hpp"

#include <algorithm>

#include "cuda/primitives/element.cuh"
#include "cuda/primitives/move_rows.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/select/select.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::triangle {
namespace {

constexpr unsigned kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    largest_count_kernel(const unsigned* counts, std::int64_t queries, unsigned* largest) {
  const std::int64_t i = thread_index();
  const unsigned mine = __reduce_max_sync(kFullMask, i < queries ? counts[i] : 0U);
  if (lane_id() == 0) atomicMax(largest, mine);
}

template <class F>
__global__ void __launch_bounds__(kThreads) pad_survivors_kernel(Survivors<F> survivors, std::int64_t queries) {
  const std::int64_t at = thread_index();
  if (at >= queries * survivors.room) return;
  const MatrixElement place = element_at(at, static_cast<unsigned>(survivors.room));
  if (place.column < survivors.counts[place.row]) return;
  survivors.keys[at] = std::numeric_limits<F>::quiet_NaN();
  survivors.ids[at] = kPaddingId + place.column;
}

Shape shape_for(std::int64_t threads) {
  return {.blocks = ceil_div(threads, kThreads), .threads = kThreads};
}

unsigned largest_count(const unsigned* counts, std::int64_t queries, cudaStream_t stream) {
  DeviceBuffer<unsigned> largest(1, stream);
  KITH_CUDA(cudaMemsetAsync(largest.data(), 0, sizeof(unsigned), stream));
  launch("largest_count", largest_count_kernel, shape_for(queries), stream, counts, queries, largest.data());
  unsigned found = 0;
  KITH_CUDA(cudaMemcpyAsync(&found, largest.data(), sizeof(found), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return found;
}

}  // namespace

template <class F>
void select_survivors(const Level2<F>& work, const Survivors<F>& survivors, const std::string& select,
                      Workspace& workspace) {
  select::Rows<F> rows;
  rows.values = survivors.keys;
  rows.ids = survivors.ids;
  rows.rows = work.count;
  rows.length = static_cast<unsigned>(survivors.room);
  rows.stride = survivors.room;
  rows.id_stride = survivors.room;
  const std::int64_t found = work.count * work.k;
  F* keys = workspace.take<F>(as_size(found));
  auto* wide = workspace.take<std::int64_t>(as_size(found));
  auto* ids = workspace.take<unsigned>(as_size(found));
  const SelectTuning tuning;
  select::select_rows(select::SelectCall<F>{rows, {keys, wide, work.k, TopkOutput::sorted, rows}, tuning, workspace},
                      select);
  narrow_ids(wide, found, ids, workspace.stream());
  const unsigned* numbers = work.queries.ids + work.first;
  scatter_rows(keys, numbers, work.count, work.k, work.keys, workspace.stream());
  scatter_rows(ids, numbers, work.count, work.k, work.ids, workspace.stream());
}

template <class F>
void search_survivors(const Level2<F>& work, const StoreSurvivors<F>& store, const std::string& select,
                      std::size_t budget, cudaStream_t stream) {
  Survivors<F> all;
  DeviceBuffer<unsigned> counts(as_size(work.count), stream);
  all.counts = counts.data();
  store(work, all);
  const std::int64_t room = largest_count(all.counts, work.count, stream);
  const std::int64_t bytes =
      2 * room * static_cast<std::int64_t>(sizeof(F) + sizeof(unsigned)) +
      static_cast<std::int64_t>(work.k) * static_cast<std::int64_t>(2 * sizeof(F) + 3 * sizeof(unsigned) + 8) + 64;
  std::int64_t tile =
      budget == 0 ? work.count : std::clamp<std::int64_t>(static_cast<std::int64_t>(budget) / bytes, 1, work.count);
  Workspace workspace(stream, budget);
  for (std::int64_t first = 0; first < work.count;) {
    workspace.reset();
    Level2<F> part = work;
    part.first = work.first + first;
    part.count = std::min(tile, work.count - first);
    // Selections differ in what they need, so that is tried.
    try {
      Survivors<F> survivors{all.counts + first, workspace.take<F>(as_size(part.count * room)),
                             workspace.take<unsigned>(as_size(part.count * room)), room};
      store(part, survivors);
      launch("pad_survivors", pad_survivors_kernel<F>, shape_for(part.count * room), stream, survivors, part.count);
      select_survivors(part, survivors, select, workspace);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || part.count == 1) throw;
      tile = part.count / 2;
      workspace.clear();
      continue;
    }
    first += part.count;
  }
}

#define KITH_INSTANTIATE(F)                                                                                   \
  template void select_survivors(const Level2<F>&, const Survivors<F>&, const std::string&, Workspace&);      \
  template void search_survivors(const Level2<F>&, const StoreSurvivors<F>&, const std::string&, std::size_t, \
                                 cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
