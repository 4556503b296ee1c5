// append.cuh: a warp's lanes append to one list with one atomic operation.
#pragma once

#include "cuda/primitives/block.cuh"

namespace kith::KITH_BACKEND::inline primitives {

// Every lane calls; those with `wanted` get the place of their item, the others anything.
__device__ __forceinline__ unsigned warp_append(bool wanted, unsigned* count) {
  const unsigned voters = __ballot_sync(kFullMask, wanted);
  unsigned base = 0;
  if (lane_id() == 0 && voters != 0) base = atomicAdd(count, static_cast<unsigned>(__popc(voters)));
  base = __shfl_sync(kFullMask, base, 0);
  return base + static_cast<unsigned>(__popc(voters & ((1U << lane_id()) - 1U)));
}

// The same for `items` items of each lane, which get places in a row: the first of them. Few lanes with items take
// their places one by one, many share one operation.
__device__ __forceinline__ unsigned append_some(unsigned items, unsigned* count) {
  constexpr int kFew = 8;
  if (__popc(__ballot_sync(kFullMask, items != 0)) <= kFew) return items != 0 ? atomicAdd(count, items) : 0;
  const unsigned inclusive = warp_inclusive_sum(items);
  unsigned base = 0;
  if (lane_id() == kWarp - 1) base = atomicAdd(count, inclusive);
  return __shfl_sync(kFullMask, base, kWarp - 1) + inclusive - items;
}

}  // namespace kith::KITH_BACKEND::inline primitives
