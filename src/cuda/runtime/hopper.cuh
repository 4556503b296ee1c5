// hopper.cuh: what the wrappers of sm_90's instructions share: where they are assembled, addresses, source positions.
// mbarrier.cuh, bulk_copy.cuh and warp_roles.cuh need sm_90, and wgmma.cuh and register limits sm_90a: binaries for
// that chip alone. In builds for others they compile, and stop the kernel.
#pragma once

#include "cuda/runtime/platform.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define KITH_SM90(...) asm volatile(__VA_ARGS__)
#else
#define KITH_SM90(...) __trap()
#endif

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define KITH_SM90A(...) asm volatile(__VA_ARGS__)
#else
#define KITH_SM90A(...) __trap()
#endif

// The last parameter of a wrapper: the emulator names the caller's line when something is wrong.
#if defined(KITH_IS_EMULATED)
#define KITH_WHERE ::emulator::Where where = ::emulator::Where::current()
#define KITH_AND_WHERE , KITH_WHERE
#else
#define KITH_WHERE
#define KITH_AND_WHERE
#endif

namespace kith::KITH_BACKEND::inline runtime {

constexpr unsigned kWarpgroup = 4 * kWarp;

#if !defined(KITH_IS_EMULATED)
__device__ __forceinline__ unsigned shared_address(const void* address) {
  return static_cast<unsigned>(__cvta_generic_to_shared(address));
}
#endif

}  // namespace kith::KITH_BACKEND::inline runtime
