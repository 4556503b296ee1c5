// fp16.cuh: IEEE binary16 as each compiler spells it, and its conversions.
#pragma once

#include "cuda/runtime/platform.cuh"

#if !defined(KITH_IS_EMULATED)
#include <cuda_fp16.h>
#endif

namespace kith::KITH_BACKEND::inline runtime {

#if defined(KITH_IS_EMULATED)
using Fp16 = _Float16;
inline Fp16 fp16_of(float value) {
  return static_cast<Fp16>(value);
}
inline float float_of(Fp16 value) {
  return static_cast<float>(value);
}
#else
using Fp16 = __half;
__host__ __device__ __forceinline__ Fp16 fp16_of(float value) {
  return __float2half_rn(value);
}
__host__ __device__ __forceinline__ float float_of(Fp16 value) {
  return __half2float(value);
}
#endif

}  // namespace kith::KITH_BACKEND::inline runtime
