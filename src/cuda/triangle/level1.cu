// A block a query cluster. Its bound is the k-th smallest of d(cq,ct) + d(ct,t) over all points t, with the cluster's
// radius on top. It is not sorted for but found by halving: how many of the sums are not above a value is one binary
// search in each base cluster. That starts between the smallest sum and the k-th of the best single cluster, so
// clusters beyond it are left at once, as the paper's early termination leaves them. It ends with a value that has k
// sums below it and is little above the k-th: a bound like it.
// Cost: one length a pair of clusters; some ten times as many binary searches as clusters lie below the bound.
#include "cuda/triangle/level1.hpp"

#include "cuda/primitives/append.cuh"
#include "cuda/primitives/key.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/triangle/lengths.cuh"
#include "cuda/triangle/pair_lengths.hpp"

namespace kith::KITH_BACKEND::triangle {
namespace {

struct Level1Tuning {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kSorted = 2048;  // clusters that are sorted at a time: their order is for speed only
  // Halving ends where both ends share so many bits but the last 42: 1/1024 of the value.
  static constexpr unsigned long long kClose = 1ULL << 42U;
};
using Tuning = Level1Tuning;

// Values that are not negative are in the order of their bits.
__device__ __forceinline__ unsigned long long bits_of(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value));
}
__device__ __forceinline__ double value_of_bits(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}

// One cluster of queries and what its block knows.
template <class F>
struct ClusterRow {
  const ClusterView<F>& base;
  const double* centers;
  unsigned k;

  __device__ unsigned size(unsigned c) const { return base.offsets[c + 1] - base.offsets[c]; }
  // The sum of the member that is the r-th nearest to its center.
  __device__ double sum(unsigned c, unsigned r) const {
    return centers[c] + half_above(base.lengths[base.offsets[c + 1] - r]);
  }
  // How many sums of a cluster are not above `most`; k says enough.
  __device__ unsigned sums_within(unsigned c, double most) const {
    unsigned low = 0;  // the r nearest are within
    unsigned high = min(size(c), k);
    while (low < high) {
      const unsigned middle = (low + high + 1) / 2;
      if (sum(c, middle) <= most)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
};

// All threads get it. Begins and ends with a barrier.
__device__ unsigned block_total(unsigned value, unsigned* shared) {
  __syncthreads();
  if (threadIdx.x == 0) *shared = 0;
  __syncthreads();
  value = __reduce_add_sync(kFullMask, value);
  if (lane_id() == 0 && value > 0) atomicAdd(shared, value);
  __syncthreads();
  return *shared;
}

struct Ends {
  unsigned long long low;
  unsigned long long high;
};

// The smallest sum, and one that k of them are not above; both ends as bits.
template <class F>
__device__ Ends first_ends(const ClusterRow<F>& row, unsigned long long* shared) {
  constexpr unsigned long long kNone = ~0ULL;
  unsigned long long low = kNone;
  unsigned long long high = kNone;
  unsigned long long farthest = 0;
  for (unsigned c = threadIdx.x; c < row.base.count; c += Tuning::kThreads) {
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

// The clusters of a row by the length to their center, `count` of them at a time.
__device__ void sort_row(unsigned* clusters, unsigned count, const double* centers, PackedKey* shared) {
  unsigned integer_range = 1;
  while (integer_range < count) integer_range *= 2;
  for (unsigned i = threadIdx.x; i < integer_range; i += Tuning::kThreads)
    shared[i] = i < count ? make_key(ordered_bits(static_cast<float>(centers[clusters[i]]), false), clusters[i])
                          : last_key<PackedKey>();
  __syncthreads();
  for (unsigned run = 2; run <= integer_range; run *= 2) {
    for (unsigned stride = run / 2; stride > 0; stride /= 2) {
      for (unsigned i = threadIdx.x; i < integer_range / 2; i += Tuning::kThreads) {
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
  for (unsigned i = threadIdx.x; i < count; i += Tuning::kThreads) clusters[i] = id_of(shared[i]);
  __syncthreads();
}

template <class F>
__global__ void __launch_bounds__(Tuning::kThreads)
    filter_clusters_kernel(const __grid_constant__ Space<F> space, const __grid_constant__ ClusterView<F> queries,
                           const __grid_constant__ ClusterView<F> base, unsigned k, Level1 out,
                           TriangleCounters* counters) {
  KITH_SHARED(unsigned long long, ends_shared, 3);
  KITH_SHARED(unsigned, total_shared, 1);
  KITH_SHARED(unsigned, left, 1);
  KITH_SHARED(unsigned long long, points_left, 1);
  KITH_SHARED(PackedKey, sorted, Tuning::kSorted);
  const unsigned cluster = out.first + blockIdx.x;
  const std::int64_t first_place = static_cast<std::int64_t>(blockIdx.x) * out.stride;
  const ClusterRow<F> row{base, out.centers + first_place, k};
  const unsigned members = queries.offsets[cluster + 1] - queries.offsets[cluster];
  const double radius = queries.radii[cluster];
  if (threadIdx.x == 0) {
    *left = 0;
    *points_left = 0;
  }
  Ends ends = first_ends(row, ends_shared);
  while (ends.high > ends.low && ends.high - ends.low > Tuning::kClose) {
    const unsigned long long middle = ends.low + (ends.high - ends.low) / 2;
    const double most = value_of_bits(middle);
    unsigned within = 0;
    for (unsigned c = threadIdx.x; c < base.count && within < k; c += Tuning::kThreads)
      if (row.centers[c] <= most) within += row.sums_within(c, most);
    if (block_total(min(within, k), total_shared) >= k)
      ends.high = middle;
    else
      ends.low = middle;
  }
  const double reach = space.bounds.reach_of_length(space.bounds.above(radius + value_of_bits(ends.high), 3));

  // Queries of an empty cluster want nothing.
  const unsigned all = members == 0 ? 0 : base.count;
  for (unsigned begin = 0; begin < all; begin += Tuning::kThreads) {
    const unsigned c = begin + threadIdx.x;
    const bool kept = c < all && row.size(c) > 0 && !space.bounds.apart(row.centers[c], radius, base.radii[c], reach);
    const unsigned place = warp_append(kept, left);
    if (!kept) continue;
    out.clusters[first_place + place] = c;
    if (counters != nullptr) atomicAdd(points_left, static_cast<unsigned long long>(row.size(c)));
  }
  __syncthreads();
  const unsigned count = *left;
  for (unsigned begin = 0; begin < count; begin += Tuning::kSorted)
    sort_row(out.clusters + first_place + begin, min(Tuning::kSorted, count - begin), row.centers, sorted);
  if (threadIdx.x != 0) return;
  out.counts[blockIdx.x] = count;
  out.reaches[blockIdx.x] = reach;
  if (counters == nullptr) return;
  TriangleCounters& mine = counters[blockIdx.x % kCounterSlots];
  atomicAdd(&mine.cluster_pairs_left, static_cast<unsigned long long>(count));
  atomicAdd(&mine.pairs_level_1, *points_left * members);
}

}  // namespace

template <class F>
Level1 filter_clusters(const Space<F>& space, const ClusterView<F>& queries, const ClusterView<F>& base, unsigned k,
                       unsigned first, unsigned count, TriangleCounters* counters, Workspace& workspace) {
  const std::int64_t pairs = static_cast<std::int64_t>(count) * base.count;
  Level1 out;
  out.first = first;
  out.count = count;
  out.stride = base.count;
  out.centers = workspace.take<double>(static_cast<std::size_t>(pairs));
  out.clusters = workspace.take<unsigned>(static_cast<std::size_t>(pairs));
  out.counts = workspace.take<unsigned>(count);
  out.reaches = workspace.take<double>(count);
  pair_lengths(space, queries.centers + static_cast<std::int64_t>(first) * space.width, count, base.centers, base.count,
               out.centers, workspace.stream());
  launch("filter_clusters", filter_clusters_kernel<F>, {.blocks = count, .threads = Tuning::kThreads},
         workspace.stream(), space, queries, base, k, out, counters);
  return out;
}

#define KITH_INSTANTIATE(F)                                                                                          \
  template Level1 filter_clusters(const Space<F>&, const ClusterView<F>&, const ClusterView<F>&, unsigned, unsigned, \
                                  unsigned, TriangleCounters*, Workspace&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
