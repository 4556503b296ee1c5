// survivors.cu: rows of stored survivors are padded to one length and selected from by a selection method.
#include "cuda/triangle/survivors.hpp"

#include <algorithm>

#include "cuda/primitives/matrix_element.cuh"
#include "cuda/primitives/move_rows.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/select/select.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::triangle {
namespace {

constexpr unsigned kSurvivorThreads = 256;

__global__ void __launch_bounds__(kSurvivorThreads)
    largest_count_kernel(const unsigned* counts, std::int64_t queries, unsigned* largest) {
  const std::int64_t i = thread_index();
  const unsigned mine = __reduce_max_sync(kFullMask, i < queries ? counts[i] : 0U);
  if (lane_id() == 0) atomicMax(largest, mine);
}

template <class F>
__global__ void __launch_bounds__(kSurvivorThreads) pad_survivors_kernel(Survivors<F> survivors, std::int64_t queries) {
  const std::int64_t at = thread_index();
  if (at >= queries * survivors.capacity) return;
  const MatrixElement element = element_at(at, static_cast<unsigned>(survivors.capacity));
  if (element.column < survivors.counts[element.row]) return;
  survivors.keys[at] = std::numeric_limits<F>::quiet_NaN();
  survivors.ids[at] = kPaddingId + element.column;
}

unsigned largest_count(const unsigned* counts, std::int64_t queries, cudaStream_t stream) {
  DeviceBuffer<unsigned> largest(1, stream);
  KITH_CUDA(cudaMemsetAsync(largest.data(), 0, sizeof(unsigned), stream));
  launch("largest_count", largest_count_kernel, thread_each(queries), stream, counts, queries, largest.data());
  unsigned found = 0;
  KITH_CUDA(cudaMemcpyAsync(&found, largest.data(), sizeof(found), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return found;
}

}  // namespace

template <class F>
void select_survivors(const QueryBatch<F>& batch, const Survivors<F>& survivors, SelectMethod select,
                      Workspace& workspace) {
  select::Rows<F> rows;
  rows.values = survivors.keys;
  rows.ids = survivors.ids;
  rows.rows = batch.count;
  rows.length = static_cast<unsigned>(survivors.capacity);
  rows.stride = survivors.capacity;
  rows.id_stride = survivors.capacity;
  const std::int64_t found = batch.count * batch.k;
  F* keys = workspace.allocate<F>(as_size(found));
  auto* wide_ids = workspace.allocate<std::int64_t>(as_size(found));
  auto* ids = workspace.allocate<unsigned>(as_size(found));
  const SelectTuning tuning;
  select::select_rows(
      select::SelectCall<F>{rows, {keys, wide_ids, batch.k, TopkOutput::sorted, rows}, tuning, workspace}, select);
  narrow_ids(wide_ids, found, ids, workspace.stream());
  const unsigned* query_ids = batch.queries.ids + batch.first;
  scatter_rows(keys, query_ids, batch.count, batch.k, batch.keys, workspace.stream());
  scatter_rows(ids, query_ids, batch.count, batch.k, batch.ids, workspace.stream());
}

template <class F>
void search_survivors(const QueryBatch<F>& batch, const StoreSurvivors<F>& store, SelectMethod select,
                      std::size_t budget, cudaStream_t stream) {
  Survivors<F> all;
  DeviceBuffer<unsigned> counts(as_size(batch.count), stream);
  all.counts = counts.data();
  store(batch, all);
  const std::int64_t capacity = largest_count(all.counts, batch.count, stream);
  const std::int64_t bytes =
      2 * capacity * static_cast<std::int64_t>(sizeof(F) + sizeof(unsigned)) +
      static_cast<std::int64_t>(batch.k) * static_cast<std::int64_t>(2 * sizeof(F) + 3 * sizeof(unsigned) + 8) + 64;
  std::int64_t tile =
      budget == 0 ? batch.count : std::clamp<std::int64_t>(static_cast<std::int64_t>(budget) / bytes, 1, batch.count);
  Workspace workspace(stream, budget);
  for (std::int64_t first = 0; first < batch.count;) {
    workspace.reset();
    QueryBatch<F> part = batch;
    part.first = batch.first + first;
    part.count = std::min(tile, batch.count - first);
    // Selection methods differ in the memory they need: where the budget does not suffice, fewer queries are tried.
    try {
      Survivors<F> survivors{all.counts + first, workspace.allocate<F>(as_size(part.count * capacity)),
                             workspace.allocate<unsigned>(as_size(part.count * capacity)), capacity};
      store(part, survivors);
      launch("pad_survivors", pad_survivors_kernel<F>, thread_each(part.count * capacity), stream, survivors,
             part.count);
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

#define KITH_INSTANTIATE(F)                                                                                 \
  template void select_survivors(const QueryBatch<F>&, const Survivors<F>&, SelectMethod, Workspace&);      \
  template void search_survivors(const QueryBatch<F>&, const StoreSurvivors<F>&, SelectMethod, std::size_t, \
                                 cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
