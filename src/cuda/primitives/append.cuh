// append.cuh: the lanes of a warp append to one list with one atomic addition.
#pragma once

#include "cuda/primitives/block.cuh"

namespace kith::KITH_BACKEND::inline primitives {

// Returns the position of the lane's item in the list, for lanes with `wanted`. Must be called by all lanes.
__device__ __forceinline__ unsigned warp_append(bool wanted, unsigned* count) {
  const unsigned voters = __ballot_sync(kFullMask, wanted);
  unsigned base = 0;
  if (lane_id() == 0 && voters != 0) base = atomicAdd(count, static_cast<unsigned>(__popc(voters)));
  base = __shfl_sync(kFullMask, base, 0);
  return base + static_cast<unsigned>(__popc(voters & ((1U << lane_id()) - 1U)));
}

// Returns the first of `items` consecutive positions for the lane's items. Up to 8 lanes with items use an atomic each,
// which is faster than the scan; more use one for all. Must be called by all lanes.
__device__ __forceinline__ unsigned warp_append_some(unsigned items, unsigned* count) {
  constexpr int kFew = 8;
  if (__popc(__ballot_sync(kFullMask, items != 0)) <= kFew) return items != 0 ? atomicAdd(count, items) : 0;
  const unsigned inclusive = warp_inclusive_sum(items);
  unsigned base = 0;
  if (lane_id() == kWarp - 1) base = atomicAdd(count, inclusive);
  return __shfl_sync(kFullMask, base, kWarp - 1) + inclusive - items;
}

}  // namespace kith::KITH_BACKEND::inline primitives
