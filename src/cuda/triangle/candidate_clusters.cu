// candidate_clusters.cu: a block takes a query cluster, bounds the k-th neighbor of its queries, and keeps the base
// clusters within that bound.
// Idea    the bound is the k-th smallest of d(cq,ct) + d(ct,t) over all points t, plus the cluster's radius. Nothing is
//         sorted for it: bisection counts the sums up to a value by one binary search in each base cluster. It starts
//         between the smallest sum and the k-th of the best single cluster, so that clusters beyond are skipped at once
//         (the early termination of Chen et al.), and ends with a value that has k sums below it and is at most 1/1024
//         above the k-th: still an upper bound.
// Cost    one distance a pair of clusters; about ten times as many binary searches as clusters lie below the bound.
#include "cuda/triangle/candidate_clusters.hpp"

#include "cuda/primitives/append.cuh"
#include "cuda/primitives/key.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/triangle/metric_distance.cuh"
#include "cuda/triangle/pair_distances.hpp"

namespace kith::KITH_BACKEND::triangle {
namespace {

struct CandidateTuning {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kSortedClusters = 2048;  // clusters sorted at a time: their order is for speed only
  // Bisection ends where both ends differ in the last 42 bits only: 1/1024 of the value.
  static constexpr unsigned long long kBisectionEnd = 1ULL << 42U;
};

// The bits of values that are not negative have the order of the values.
__device__ __forceinline__ unsigned long long bits_of(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value));
}
__device__ __forceinline__ double value_of_bits(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}

// A query cluster, its distances to the base clusters, and the sums d(cq,ct) + d(ct,t) of their members.
template <class F>
struct QueryClusterRow {
  const ClusterView<F>& base;
  const double* center_distances;
  unsigned k;

  __device__ unsigned size(unsigned c) const { return base.offsets[c + 1] - base.offsets[c]; }
  // The sum of the member that is the r-th nearest to its center.
  __device__ double sum(unsigned c, unsigned r) const {
    return center_distances[c] + set_low_word(base.member_distances[base.offsets[c + 1] - r]);
  }
  // How many sums of a cluster are not above `limit`, counted up to k.
  __device__ unsigned sums_within(unsigned c, double limit) const {
    unsigned low = 0;  // the r nearest are within
    unsigned high = min(size(c), k);
    while (low < high) {
      const unsigned middle = (low + high + 1) / 2;
      if (sum(c, middle) <= limit)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
};

// Adds up the values of a block; all threads get the sum. Begins and ends with a barrier.
__device__ unsigned block_total(unsigned value, unsigned* shared) {
  __syncthreads();
  if (threadIdx.x == 0) *shared = 0;
  __syncthreads();
  value = __reduce_add_sync(kFullMask, value);
  if (lane_id() == 0 && value > 0) atomicAdd(shared, value);
  __syncthreads();
  return *shared;
}

// Ends of a bisection, as bits of doubles.
struct BisectionRange {
  unsigned long long low;
  unsigned long long high;
};

// From the smallest sum to a sum that k of them are not above. Must be called by all threads of the block.
template <class F>
__device__ BisectionRange initial_range(const QueryClusterRow<F>& row, unsigned long long* shared) {
  constexpr unsigned long long kNone = ~0ULL;
  unsigned long long low = kNone;
  unsigned long long high = kNone;
  unsigned long long farthest = 0;
  for (unsigned c = threadIdx.x; c < row.base.count; c += CandidateTuning::kThreads) {
    const unsigned size = row.size(c);
    if (size == 0) continue;
    low = min(low, bits_of(row.sum(c, 1)));
    farthest = max(farthest, bits_of(row.sum(c, size)));
    if (size >= row.k) high = min(high, bits_of(row.sum(c, row.k)));
  }
  if (threadIdx.x == 0) {
    shared[0] = kNone;
    shared[1] = kNone;
    shared[2] = 0;
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    low = min(low, __shfl_xor_sync(kFullMask, low, step));
    high = min(high, __shfl_xor_sync(kFullMask, high, step));
    farthest = max(farthest, __shfl_xor_sync(kFullMask, farthest, step));
  }
  __syncthreads();
  if (lane_id() == 0) {
    atomicMin(&shared[0], low);
    atomicMin(&shared[1], high);
    atomicMax(&shared[2], farthest);
  }
  __syncthreads();
  return {shared[0], min(shared[1], shared[2])};
}

// Sorts `count` clusters of a row by the distance to their center, by a bitonic network in shared memory. Must be
// called by all threads of the block; ends with a barrier.
__device__ void sort_row(unsigned* clusters, unsigned count, const double* center_distances, PackedKey* shared) {
  unsigned padded = 1;
  while (padded < count) padded *= 2;
  for (unsigned i = threadIdx.x; i < padded; i += CandidateTuning::kThreads)
    shared[i] = i < count
                    ? make_key(ordered_bits(static_cast<float>(center_distances[clusters[i]]), false), clusters[i])
                    : last_key<PackedKey>();
  __syncthreads();
  for (unsigned run = 2; run <= padded; run *= 2) {
    for (unsigned stride = run / 2; stride > 0; stride /= 2) {
      for (unsigned i = threadIdx.x; i < padded / 2; i += CandidateTuning::kThreads) {
        const unsigned low = (i & ~(stride - 1)) << 1U | (i & (stride - 1));
        const unsigned other = stride == run / 2 ? low ^ (run - 1) : low ^ stride;
        if (shared[other] < shared[low]) {
          const PackedKey key = shared[low];
          shared[low] = shared[other];
          shared[other] = key;
        }
      }
      __syncthreads();
    }
  }
  for (unsigned i = threadIdx.x; i < count; i += CandidateTuning::kThreads) clusters[i] = id_of(shared[i]);
  __syncthreads();
}

template <class F>
__global__ void __launch_bounds__(CandidateTuning::kThreads)
    candidate_clusters_kernel(const __grid_constant__ Space<F> space, const __grid_constant__ ClusterView<F> queries,
                              const __grid_constant__ ClusterView<F> base, unsigned k, CandidateClusters out,
                              TriangleCounters* counters) {
  KITH_SHARED(unsigned long long, range_shared, 3);
  KITH_SHARED(unsigned, total_shared, 1);
  KITH_SHARED(unsigned, left_count, 1);
  KITH_SHARED(unsigned long long, points_left, 1);
  KITH_SHARED(PackedKey, sorted, CandidateTuning::kSortedClusters);
  const unsigned cluster = out.first + blockIdx.x;
  const std::int64_t row_start = static_cast<std::int64_t>(blockIdx.x) * out.stride;
  const QueryClusterRow<F> row{base, out.center_distances + row_start, k};
  const unsigned members = queries.offsets[cluster + 1] - queries.offsets[cluster];
  const double radius = queries.radii[cluster];
  if (threadIdx.x == 0) {
    *left_count = 0;
    *points_left = 0;
  }
  BisectionRange range = initial_range(row, range_shared);
  while (range.high > range.low && range.high - range.low > CandidateTuning::kBisectionEnd) {
    const unsigned long long middle = range.low + (range.high - range.low) / 2;
    const double limit = value_of_bits(middle);
    unsigned within = 0;
    for (unsigned c = threadIdx.x; c < base.count && within < k; c += CandidateTuning::kThreads)
      if (row.center_distances[c] <= limit) within += row.sums_within(c, limit);
    if (block_total(min(within, k), total_shared) >= k)
      range.high = middle;
    else
      range.low = middle;
  }
  const double search_bound =
      space.bounds.search_bound_of_distance(space.bounds.above(radius + value_of_bits(range.high), 3));

  // A cluster without queries needs no candidates.
  const unsigned all = members == 0 ? 0 : base.count;
  for (unsigned begin = 0; begin < all; begin += CandidateTuning::kThreads) {
    const unsigned c = begin + threadIdx.x;
    const bool kept =
        c < all && row.size(c) > 0 && !space.bounds.apart(row.center_distances[c], radius, base.radii[c], search_bound);
    const unsigned slot = warp_append(kept, left_count);
    if (!kept) continue;
    out.clusters[row_start + slot] = c;
    if (counters != nullptr) atomicAdd(points_left, static_cast<unsigned long long>(row.size(c)));
  }
  __syncthreads();
  const unsigned count = *left_count;
  for (unsigned begin = 0; begin < count; begin += CandidateTuning::kSortedClusters)
    sort_row(out.clusters + row_start + begin, min(CandidateTuning::kSortedClusters, count - begin),
             row.center_distances, sorted);
  if (threadIdx.x != 0) return;
  out.counts[blockIdx.x] = count;
  out.search_bounds[blockIdx.x] = search_bound;
  if (counters == nullptr) return;
  TriangleCounters& mine = counters[blockIdx.x % kCounterSlots];
  atomicAdd(&mine.cluster_pairs_left, static_cast<unsigned long long>(count));
  atomicAdd(&mine.pairs_level_1, *points_left * members);
}

}  // namespace

template <class F>
CandidateClusters find_candidate_clusters(const Space<F>& space, const ClusterView<F>& queries,
                                          const ClusterView<F>& base, unsigned k, unsigned first, unsigned count,
                                          TriangleCounters* counters, Workspace& workspace) {
  const std::int64_t pairs = static_cast<std::int64_t>(count) * base.count;
  CandidateClusters out;
  out.first = first;
  out.count = count;
  out.stride = base.count;
  out.center_distances = workspace.allocate<double>(static_cast<std::size_t>(pairs));
  out.clusters = workspace.allocate<unsigned>(static_cast<std::size_t>(pairs));
  out.counts = workspace.allocate<unsigned>(count);
  out.search_bounds = workspace.allocate<double>(count);
  pair_distances(space, queries.centers + static_cast<std::int64_t>(first) * space.width, count, base.centers,
                 base.count, out.center_distances, workspace.stream());
  launch("find_candidate_clusters", candidate_clusters_kernel<F>,
         {.blocks = count, .threads = CandidateTuning::kThreads}, workspace.stream(), space, queries, base, k, out,
         counters);
  return out;
}

#define KITH_INSTANTIATE(F)                                                                                         \
  template CandidateClusters find_candidate_clusters(const Space<F>&, const ClusterView<F>&, const ClusterView<F>&, \
                                                     unsigned, unsigned, unsigned, TriangleCounters*, Workspace&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
