#include "cuda/triangle/papers/sweet_knn.hpp"

#include <algorithm>

#include "core/limit.hpp"
#include "core/triangle_limits.hpp"
#include "cuda/primitives/element.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/triangle/papers/sweet_knn_work.hpp"

namespace kith::KITH_BACKEND::triangle {
namespace {

constexpr std::int64_t kPreferredSharedBytes = 48 << 10;  // so that several blocks share a multiprocessor
constexpr std::int64_t kMostSlotBytes = std::int64_t{1} << 30;

__global__ void __launch_bounds__(kPaperThreads) invert_kernel(const unsigned* ids, std::int64_t count, unsigned* out) {
  const std::int64_t i = thread_index();
  if (i < count) out[ids[i]] = static_cast<unsigned>(i);
}

SweetKnnShape::Placement placement_of(const std::string& name) {
  if (name == "registers") return SweetKnnShape::Placement::registers;
  return name == "shared" ? SweetKnnShape::Placement::shared : SweetKnnShape::Placement::global;
}

// Threads of a block whose lists fit into shared memory, a warp at least.
template <class F>
unsigned block_threads(const SweetKnnWork<F>& work) {
  if (work.shape.partial || work.shape.placement != SweetKnnShape::Placement::shared) return kPaperThreads;
  unsigned threads = kPaperThreads;
  const std::int64_t list = static_cast<std::int64_t>(work.level2.k * sizeof(KeyOf<F>));
  while (threads > kWarp && threads * list > kPreferredSharedBytes) threads /= 2;
  return threads;
}

// One launch: all queries of the work.
template <class F>
class SweetKnnLaunch {
 public:
  SweetKnnLaunch(const Level2<F>& level2, const SweetKnnShape& shape, const unsigned* positions, cudaStream_t stream)
      : stream_(stream), work_{level2, shape, positions, nullptr, nullptr, {}} {
    if (shape.threads == 1 || shape.partial) return;
    reaches_ = DeviceBuffer<unsigned long long>(as_size(level2.count), stream);
    KITH_CUDA(cudaMemsetAsync(reaches_.data(), 0xFF, as_size(level2.count) * sizeof(unsigned long long), stream));
    work_.reaches = reaches_.data();
  }

  void store(const Survivors<F>& survivors) {
    KITH_CUDA(cudaMemsetAsync(survivors.counts, 0, as_size(work_.level2.count) * sizeof(unsigned), stream_));
    work_.survivors = survivors;
    run_paper(work_, kPaperThreads, stream_);
  }

  void search(const std::string& select, std::size_t budget) {
    const unsigned threads = block_threads(work_);
    if (work_.shape.placement == SweetKnnShape::Placement::global) {
      const std::int64_t lists = ceil_div(work_.level2.count * work_.shape.threads, threads) * threads;
      slots_ = DeviceBuffer<KeyOf<F>>(as_size(lists * work_.level2.k), stream_);
      work_.slots = slots_.data();
    }
    if (work_.shape.threads == 1) return run_paper(work_, threads, stream_);
    Workspace workspace(stream_, budget);
    work_.survivors.room = static_cast<std::int64_t>(work_.shape.threads) * work_.level2.k;
    work_.survivors.keys = workspace.take<F>(as_size(work_.level2.count * work_.survivors.room));
    work_.survivors.ids = workspace.take<unsigned>(as_size(work_.level2.count * work_.survivors.room));
    run_paper(work_, threads, stream_);
    select_survivors(work_.level2, work_.survivors, select, workspace);
  }

 private:
  cudaStream_t stream_;
  SweetKnnWork<F> work_;
  DeviceBuffer<unsigned long long> reaches_;
  DeviceBuffer<KeyOf<F>> slots_;
};

// Queries that lists, their copies that are merged, and what selects from these have room for.
template <class F>
std::int64_t queries_at_once(const Level2<F>& work, const SweetKnnShape& shape, std::size_t budget) {
  const std::int64_t list = static_cast<std::int64_t>(work.k * sizeof(KeyOf<F>));
  const std::int64_t bytes = shape.threads * list * (shape.threads == 1 ? 1 : 4) + 64;
  const std::int64_t most = budget == 0 ? kMostSlotBytes : std::min(kMostSlotBytes, static_cast<std::int64_t>(budget));
  return std::clamp<std::int64_t>(most / bytes, 1, work.count);
}

}  // namespace

SweetKnnShape paper_shape(const TriangleTuning& tuning, std::int64_t k, std::size_t key_bytes, std::int64_t base_points,
                          std::int64_t base_clusters) {
  constexpr const char* kName = "method triangle, form paper";
  SweetKnnShape shape;
  shape.partial = tuning.filter == "partial";
  shape.placement = placement_of(tuning.placement);
  shape.interleaved = tuning.layout != "contiguous";
  shape.remapped = tuning.remapped;
  require_within(kName, "threads_per_query", tuning.threads_per_query, 0, core::kMaxSweetKnnThreads);
  if (!shape.partial && shape.placement == SweetKnnShape::Placement::registers)
    require_within(kName, "k of neighbors in registers", k, 1, core::kLargestRegisterList);
  if (!shape.partial && shape.placement == SweetKnnShape::Placement::shared)
    require_within(kName, "k of neighbors in shared memory", k, 1,
                   core::largest_shared_list(static_cast<std::int64_t>(key_bytes)));
  // Section IV-D3: threads share the members of a cluster as far as there are so many.
  const auto wanted = static_cast<unsigned>(std::max(1, tuning.threads_per_query));
  const auto members = static_cast<unsigned>(std::max<std::int64_t>(1, base_points / base_clusters));
  shape.inner = std::min(wanted, members);
  shape.threads = wanted / shape.inner * shape.inner;
  return shape;
}

template <class F>
void search_paper(const Level2<F>& work, std::int64_t all_queries, const SweetKnnShape& shape,
                  const std::string& select, std::size_t budget, cudaStream_t stream) {
  const bool whole = work.count == all_queries;
  DeviceBuffer<unsigned> positions;
  if (!shape.remapped && whole) {
    positions = DeviceBuffer<unsigned>(as_size(all_queries), stream);
    launch("invert", invert_kernel, {.blocks = ceil_div(all_queries, kPaperThreads), .threads = kPaperThreads}, stream,
           work.queries.ids, all_queries, positions.data());
  }
  const auto launch_of = [&](const Level2<F>& part) {
    return SweetKnnLaunch<F>(part, shape, part.count == all_queries ? positions.data() : nullptr, stream);
  };
  if (shape.partial)
    return search_survivors<F>(
        work, [&](const Level2<F>& part, const Survivors<F>& survivors) { launch_of(part).store(survivors); }, select,
        budget, stream);
  const std::int64_t most = queries_at_once(work, shape, budget);
  for (std::int64_t first = 0; first < work.count; first += most) {
    Level2<F> part = work;
    part.first = work.first + first;
    part.count = std::min(most, work.count - first);
    launch_of(part).search(select, budget);
  }
}

#define KITH_INSTANTIATE(F)                                                                                         \
  template void search_paper(const Level2<F>&, std::int64_t, const SweetKnnShape&, const std::string&, std::size_t, \
                             cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
