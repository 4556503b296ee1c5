#include "cuda/graph/merge_lists.hpp"

#include <algorithm>

#include "core/max_distance.hpp"
#include "cuda/primitives/key.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::graph {
namespace {

constexpr unsigned kMergeThreads = 128;
constexpr unsigned kMergeWarps = kMergeThreads / kWarp;
static_assert(kMostLists == kWarp);

template <class F>
struct MergeCall {
  NeighborLists<F> lists[kMostLists];
  unsigned count;
  std::int64_t queries;
  std::int64_t k;
  bool largest;  // inner products
  F missing;     // distance of places without a neighbor
  F* distances;
  std::int64_t* ids;
};

// What orders neighbors: that of a list which has come to its end is above all others.
template <class F>
struct Place {
  OrderOf<F> order;
  unsigned long long id;  // in the order of signed integers

  __device__ bool operator<(const Place& other) const {
    return order < other.order || (order == other.order && id < other.id);
  }
};

template <class F>
__device__ Place<F> least_of_warp(Place<F> mine) {
  for (int mask = kWarp / 2; mask > 0; mask /= 2) {
    const Place<F> other{__shfl_xor_sync(kFullMask, mine.order, mask), __shfl_xor_sync(kFullMask, mine.id, mask)};
    if (other < mine) mine = other;
  }
  return mine;
}

// The list of a lane, and the neighbor it has come to.
template <class F>
struct ListCursor {
  static constexpr unsigned long long kSign = 0x8000000000000000ULL;

  __device__ ListCursor(const MergeCall<F>& call, std::int64_t query) {
    if (lane_id() >= call.count) return;
    const NeighborLists<F>& list = call.lists[lane_id()];
    id_ = list.ids + query * list.k;
    end_ = id_ + list.k;
    distance_ = list.distances + query * list.k;
    load(call.largest);
  }

  __device__ void advance(bool largest) {
    ++id_;
    ++distance_;
    load(largest);
  }

  // Rows end where their memory does, or with the first place without a neighbor.
  __device__ void load(bool largest) {
    is_done = id_ == end_ || *id_ == core::kNoNeighbor;
    place = {~OrderOf<F>{0}, ~0ULL};
    if (!is_done) place = {ordered_bits(*distance_, largest), static_cast<unsigned long long>(*id_) ^ kSign};
  }

  __device__ F distance() const { return *distance_; }
  __device__ std::int64_t id() const { return *id_; }

  bool is_done = true;
  Place<F> place{~OrderOf<F>{0}, ~0ULL};

 private:
  const std::int64_t* id_ = nullptr;
  const std::int64_t* end_ = nullptr;
  const F* distance_ = nullptr;
};

template <class F>
__global__ void __launch_bounds__(kMergeThreads) merge_lists_kernel(const __grid_constant__ MergeCall<F> call) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kMergeWarps + warp_id();
  if (query >= call.queries) return;
  ListCursor<F> cursor(call, query);
  F* const distances = call.distances + query * call.k;
  std::int64_t* const ids = call.ids + query * call.k;
  std::int64_t found = 0;
  while (found < call.k && __any_sync(kFullMask, cursor.is_done ? 0 : 1) != 0) {
    const Place<F> least = least_of_warp(cursor.place);
    const bool has_it = !cursor.is_done && !(least < cursor.place);
    const unsigned holders = __ballot_sync(kFullMask, has_it);
    if (has_it) {
      if (static_cast<unsigned>(__ffs(static_cast<int>(holders))) == lane_id() + 1) {
        distances[found] = cursor.distance();
        ids[found] = cursor.id();
      }
      cursor.advance(call.largest);
    }
    ++found;
  }
  for (std::int64_t i = found + lane_id(); i < call.k; i += kWarp) {
    distances[i] = call.missing;
    ids[i] = core::kNoNeighbor;
  }
}

}  // namespace

template <class F>
void merge_lists(std::span<const NeighborLists<F>> lists, std::int64_t queries, std::int64_t k, const Metric& metric,
                 const NeighborsView<F>& out, cudaStream_t stream) {
  MergeCall<F> call{};
  std::copy(lists.begin(), lists.end(), call.lists);
  call.count = static_cast<unsigned>(lists.size());
  call.queries = queries;
  call.k = k;
  call.largest = metric.kind == MetricKind::inner_product;
  call.missing = core::missing_distance<F>(metric);
  call.distances = out.distances;
  call.ids = out.ids;
  launch("merge_lists", merge_lists_kernel<F>, {.blocks = ceil_div(queries, kMergeWarps), .threads = kMergeThreads},
         stream, call);
}

template void merge_lists(std::span<const NeighborLists<float>>, std::int64_t, std::int64_t, const Metric&,
                          const NeighborsView<float>&, cudaStream_t);
template void merge_lists(std::span<const NeighborLists<double>>, std::int64_t, std::int64_t, const Metric&,
                          const NeighborsView<double>&, cudaStream_t);

}  // namespace kith::KITH_BACKEND::graph
