// search_bound.cuh: how far a query looks, and what that means for scores and for members of a cluster.
#pragma once

#include "cuda/triangle/lengths.cuh"
#include "cuda/triangle/level2.hpp"

namespace kith::KITH_BACKEND::triangle {

// Functions of their own: with all metrics they are long.
template <class F>
KITH_NOINLINE __device__ double reach_of_key(const Space<F>& space, F key) {
  return space.bounds.reach(key);
}

template <class F>
KITH_NOINLINE __device__ double reach_of_sum(const Space<F>& space, double sum, int terms) {
  return space.bounds.reach_of_length(space.bounds.above(sum, terms));
}

template <class F>
KITH_NOINLINE __device__ F score_limit(const Space<F>& space, double reach) {
  return space.bounds.raw_limit(reach);
}

// Members of a cluster that a window leaves: positions begin … end − 1.
struct Positions {
  unsigned begin;
  unsigned end;
};

// The first position whose length, or rather the upper half of it, is below `bound`, or not above it with kInclusive.
template <bool kInclusive>
__device__ __forceinline__ unsigned first_below(const double* lengths, unsigned begin, unsigned end, double bound) {
  while (begin < end) {
    const unsigned middle = begin + (end - begin) / 2;
    const double length = half_below(lengths[middle]);
    if (kInclusive ? length <= bound : length < bound)
      end = middle;
    else
      begin = middle + 1;
  }
  return begin;
}

// All lengths within the window, and some beside it that share an upper half with its ends.
__device__ __forceinline__ Positions stretch_of(const double* lengths, unsigned begin, unsigned end,
                                                const core::LengthWindow& window) {
  begin = first_below<true>(lengths, begin, end, window.high);
  if (window.low > 0) end = first_below<false>(lengths, begin, end, half_below(window.low));
  return {begin, end};
}

}  // namespace kith::KITH_BACKEND::triangle
