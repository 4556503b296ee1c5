// key_lanes.cuh: groups of eight lanes share a row or a pair: lane j takes the coordinates c with c % 8 = j, which is
// the order of core/key.hpp.
#pragma once

#include "core/key.hpp"
#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline points {

struct KeyLanes {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kGroups = kThreads / core::kLanes;  // groups of a block
};

__device__ __forceinline__ unsigned group_lane() {
  return threadIdx.x % core::kLanes;
}

__device__ __forceinline__ double add_term(core::Form form, double sum, double term) {
  if (form == core::Form::maximum) return sum < term ? term : sum;
  return sum + term;
}

// Adds up the eight lanes of a group in the order of core::combine_lanes. Must be called by all lanes of the warp.
__device__ __forceinline__ double combine_group(double lane, core::Form form) {
  for (int step = core::kLanes / 2; step > 0; step /= 2)
    lane = add_term(form, lane, __shfl_xor_sync(kFullMask, lane, step));
  return lane;
}

}  // namespace kith::KITH_BACKEND::inline points
