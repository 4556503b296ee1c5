// sweet_knn.cu: the host's side of form sweet-knn: options of Chen et al., and launches that fit the budget.
#include "cuda/triangle/papers/sweet_knn.hpp"

#include <algorithm>

#include "core/limit.hpp"
#include "core/triangle_limits.hpp"
#include "cuda/primitives/matrix_element.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/triangle/papers/sweet_knn_call.hpp"

namespace kith::KITH_BACKEND::triangle {
namespace {

constexpr std::int64_t kMaxSlotBytes = std::int64_t{1} << 30;

__global__ void __launch_bounds__(kSweetKnnThreads)
    invert_kernel(const unsigned* ids, std::int64_t count, unsigned* out) {
  const std::int64_t i = thread_index();
  if (i < count) out[ids[i]] = static_cast<unsigned>(i);
}

// Threads of a block such that their lists fit into shared memory; at least a warp.
template <class F>
unsigned block_threads(const SweetKnnCall<F>& call) {
  if (call.options.partial || call.options.placement != TrianglePlacement::shared) return kSweetKnnThreads;
  unsigned threads = kSweetKnnThreads;
  const std::int64_t list = static_cast<std::int64_t>(call.batch.k * sizeof(KeyOf<F>));
  while (threads > kWarp && threads * list > device_policy().sweet_knn_shared_bytes) threads /= 2;
  return threads;
}

// The buffers of one launch, and the launch.
template <class F>
class SweetKnnLaunch {
 public:
  SweetKnnLaunch(const QueryBatch<F>& batch, const SweetKnnOptions& options, const unsigned* positions,
                 cudaStream_t stream)
      : stream_(stream), call_{batch, options, positions, nullptr, nullptr, {}} {
    if (options.threads == 1 || options.partial) return;
    search_bounds_ = DeviceBuffer<unsigned long long>(as_size(batch.count), stream);
    KITH_CUDA(cudaMemsetAsync(search_bounds_.data(), 0xFF, as_size(batch.count) * sizeof(unsigned long long), stream));
    call_.search_bounds = search_bounds_.data();
  }

  void store(const Survivors<F>& survivors) {
    KITH_CUDA(cudaMemsetAsync(survivors.counts, 0, as_size(call_.batch.count) * sizeof(unsigned), stream_));
    call_.survivors = survivors;
    run_sweet_knn(call_, kSweetKnnThreads, stream_);
  }

  void search(SelectMethod select, std::size_t budget) {
    const unsigned threads = block_threads(call_);
    if (call_.options.placement == TrianglePlacement::global) {
      const std::int64_t lists = ceil_div(call_.batch.count * call_.options.threads, threads) * threads;
      slots_ = DeviceBuffer<KeyOf<F>>(as_size(lists * call_.batch.k), stream_);
      call_.slots = slots_.data();
    }
    if (call_.options.threads == 1) return run_sweet_knn(call_, threads, stream_);
    Workspace workspace(stream_, budget);
    call_.survivors.capacity = static_cast<std::int64_t>(call_.options.threads) * call_.batch.k;
    call_.survivors.keys = workspace.allocate<F>(as_size(call_.batch.count * call_.survivors.capacity));
    call_.survivors.ids = workspace.allocate<unsigned>(as_size(call_.batch.count * call_.survivors.capacity));
    run_sweet_knn(call_, threads, stream_);
    select_survivors(call_.batch, call_.survivors, select, workspace);
  }

 private:
  cudaStream_t stream_;
  SweetKnnCall<F> call_;
  DeviceBuffer<unsigned long long> search_bounds_;
  DeviceBuffer<KeyOf<F>> slots_;
};

// How many queries fit into the budget with their lists; lists of several threads need space for copies to merge, and
// for selecting from these.
template <class F>
std::int64_t queries_at_once(const QueryBatch<F>& batch, const SweetKnnOptions& options, std::size_t budget) {
  const std::int64_t list = static_cast<std::int64_t>(batch.k * sizeof(KeyOf<F>));
  const std::int64_t bytes = options.threads * list * (options.threads == 1 ? 1 : 4) + 64;
  const std::int64_t bytes_at_once =
      budget == 0 ? kMaxSlotBytes : std::min(kMaxSlotBytes, static_cast<std::int64_t>(budget));
  return std::clamp<std::int64_t>(bytes_at_once / bytes, 1, batch.count);
}

}  // namespace

SweetKnnOptions sweet_knn_options(const TriangleTuning& tuning, std::int64_t k, std::size_t key_bytes,
                                  std::int64_t base_points, std::int64_t base_clusters) {
  constexpr const char* kName = "method triangle, form sweet-knn";
  SweetKnnOptions options;
  options.partial = tuning.filter == TriangleFilter::partial;
  // Plans decide it; lists in global memory have no limit.
  options.placement = tuning.placement == TrianglePlacement::automatic ? TrianglePlacement::global : tuning.placement;
  options.interleaved = tuning.layout == TriangleLayout::interleaved;
  options.remapped = tuning.remapped;
  require_within(kName, "threads_per_query", tuning.threads_per_query, 0, core::kMaxSweetKnnThreads);
  if (!options.partial && options.placement == TrianglePlacement::registers)
    require_within(kName, "k of neighbors in registers", k, 1, core::kMaxRegisterList);
  if (!options.partial && options.placement == TrianglePlacement::shared)
    require_within(
        kName, "k of neighbors in shared memory", k, 1,
        core::max_shared_list(static_cast<std::int64_t>(key_bytes), device_policy().hardware.shared_per_block));
  // Chen et al., section IV-D3: threads share the members of a cluster as long as it has so many.
  const auto wanted = static_cast<unsigned>(std::max(1, tuning.threads_per_query));
  const auto members = static_cast<unsigned>(std::max<std::int64_t>(1, base_points / base_clusters));
  options.inner = std::min(wanted, members);
  options.threads = wanted / options.inner * options.inner;
  return options;
}

template <class F>
void search_sweet_knn(const QueryBatch<F>& batch, std::int64_t all_queries, const SweetKnnOptions& options,
                      SelectMethod select, std::size_t budget, cudaStream_t stream) {
  const bool whole = batch.count == all_queries;
  DeviceBuffer<unsigned> positions;
  if (!options.remapped && whole) {
    positions = DeviceBuffer<unsigned>(as_size(all_queries), stream);
    launch("invert", invert_kernel, {.blocks = ceil_div(all_queries, kSweetKnnThreads), .threads = kSweetKnnThreads},
           stream, batch.queries.ids, all_queries, positions.data());
  }
  const auto launch_of = [&](const QueryBatch<F>& part) {
    return SweetKnnLaunch<F>(part, options, part.count == all_queries ? positions.data() : nullptr, stream);
  };
  if (options.partial)
    return search_survivors<F>(
        batch, [&](const QueryBatch<F>& part, const Survivors<F>& survivors) { launch_of(part).store(survivors); },
        select, budget, stream);
  const std::int64_t part_queries = queries_at_once(batch, options, budget);
  for (std::int64_t first = 0; first < batch.count; first += part_queries) {
    QueryBatch<F> part = batch;
    part.first = batch.first + first;
    part.count = std::min(part_queries, batch.count - first);
    launch_of(part).search(select, budget);
  }
}

#define KITH_INSTANTIATE(F)                                                                                \
  template void search_sweet_knn(const QueryBatch<F>&, std::int64_t, const SweetKnnOptions&, SelectMethod, \
                                 std::size_t, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
