// warp_reduce.cuh: the least, or the sum, of the values of a warp's lanes, for all of them. All lanes must call.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline primitives {

template <class V>
__device__ __forceinline__ V warp_min(V value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value = min(value, __shfl_xor_sync(kFullMask, value, step));
  return value;
}

template <class V>
__device__ __forceinline__ V warp_sum(V value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(kFullMask, value, step);
  return value;
}

}  // namespace kith::KITH_BACKEND::inline primitives
