// block.cuh: prefix sums of a warp and of a block.
#pragma once

#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::inline primitives {

// The sum of the lanes' values up to and including this lane.
__device__ __forceinline__ unsigned warp_inclusive_sum(unsigned value) {
  for (unsigned delta = 1; delta < kWarp; delta *= 2) {
    const unsigned other = __shfl_up_sync(kFullMask, value, delta);
    if (lane_id() >= delta) value += other;
  }
  return value;
}

// The sum over the threads before this one; `total` is that over all. `scratch` holds one word per warp and one more.
// Must be called by all threads of the block.
template <unsigned kThreads>
__device__ unsigned block_exclusive_sum(unsigned value, unsigned* scratch, unsigned& total) {
  constexpr unsigned kWarps = kThreads / kWarp;
  const unsigned inclusive = warp_inclusive_sum(value);
  if (lane_id() == kWarp - 1) scratch[warp_id()] = inclusive;
  __syncthreads();
  if (warp_id() == 0) {
    const unsigned mine = lane_id() < kWarps ? scratch[lane_id()] : 0;
    const unsigned sums = warp_inclusive_sum(mine);
    if (lane_id() < kWarps) scratch[lane_id()] = sums - mine;
    if (lane_id() == kWarps - 1) scratch[kWarps] = sums;
  }
  __syncthreads();
  const unsigned before = scratch[warp_id()] + inclusive - value;
  total = scratch[kWarps];
  __syncthreads();
  return before;
}

}  // namespace kith::KITH_BACKEND::inline primitives
