// search_bound.cuh: the distance beyond which a query has no neighbors, and what it rules out among scores and among
// the members of a cluster.
#pragma once

#include "cuda/triangle/metric_distance.cuh"
#include "cuda/triangle/query_batch.hpp"

namespace kith::KITH_BACKEND::triangle {

// Not inlined: with all metrics they are long.
template <class F>
KITH_NOINLINE __device__ double search_bound_of_key(const Space<F>& space, F key) {
  return space.bounds.search_bound(key);
}

template <class F>
KITH_NOINLINE __device__ double search_bound_of_sum(const Space<F>& space, double sum, int terms) {
  return space.bounds.search_bound_of_distance(space.bounds.above(sum, terms));
}

template <class F>
KITH_NOINLINE __device__ F score_limit(const Space<F>& space, double search_bound) {
  return space.bounds.raw_limit(search_bound);
}

// Positions begin … end − 1 of a cluster.
struct PositionRange {
  unsigned begin;
  unsigned end;
};

// The first position whose distance, with its low word cleared, is below `bound`, or not above it with kInclusive.
// Distances fall.
template <bool kInclusive>
__device__ __forceinline__ unsigned first_below(const double* distances, unsigned begin, unsigned end, double bound) {
  while (begin < end) {
    const unsigned middle = begin + (end - begin) / 2;
    const double distance = clear_low_word(distances[middle]);
    if (kInclusive ? distance <= bound : distance < bound)
      end = middle;
    else
      begin = middle + 1;
  }
  return begin;
}

// The positions of all distances in the interval, and of some beside it that share an upper word with its ends.
__device__ __forceinline__ PositionRange positions_within(const double* distances, unsigned begin, unsigned end,
                                                          const core::DistanceInterval& interval) {
  begin = first_below<true>(distances, begin, end, interval.high);
  if (interval.low > 0) end = first_below<false>(distances, begin, end, clear_low_word(interval.low));
  return {begin, end};
}

}  // namespace kith::KITH_BACKEND::triangle
