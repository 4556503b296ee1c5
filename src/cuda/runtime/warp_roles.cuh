// warp_roles.cuh: for kernels whose warps have different tasks: barriers among some of them, one elected lane, and
// registers that move from warpgroups that need few to those that need many. All must be called by whole warps.
#pragma once

#include "cuda/runtime/hopper.cuh"

namespace kith::KITH_BACKEND::inline runtime {

// Waits at barrier `id`, 1 to 15, until `threads` have come here or to named_barrier_arrive().
__device__ __forceinline__ void named_barrier_sync(unsigned id, unsigned threads KITH_AND_WHERE) {
#if defined(KITH_IS_EMULATED)
  ::emulator::named_barrier_sync(id, threads, where);
#else
  asm volatile("bar.sync %0, %1;\n" ::"r"(id), "r"(threads) : "memory");
#endif
}

// Comes to the barrier without waiting.
__device__ __forceinline__ void named_barrier_arrive(unsigned id, unsigned threads KITH_AND_WHERE) {
#if defined(KITH_IS_EMULATED)
  ::emulator::named_barrier_arrive(id, threads, where);
#else
  asm volatile("bar.arrive %0, %1;\n" ::"r"(id), "r"(threads) : "memory");
#endif
}

// True for one lane of the warp, which need not be lane 0 but is the same one each time.
__device__ __forceinline__ bool elect_one(KITH_WHERE) {
#if defined(KITH_IS_EMULATED)
  return ::emulator::elect_one(kFullMask, where);
#else
  unsigned elected = 0;
  KITH_SM90(
      "{\n"
      "  .reg .pred elected;\n"
      "  elect.sync _|elected, 0xffffffff;\n"
      "  selp.u32 %0, 1, 0, elected;\n"
      "}\n"
      : "=r"(elected)::"memory");
  return elected != 0;
#endif
}

// Registers of each thread of a warpgroup from here on: a multiple of 8 from 24 to 256. All threads start with the same
// number, which __launch_bounds__ decides; raising waits until others have lowered theirs. The block's sum is at most
// 65,536.
template <unsigned kRegisters>
__device__ __forceinline__ void lower_register_limit(KITH_WHERE) {
  static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0);
#if defined(KITH_IS_EMULATED)
  ::emulator::set_register_limit(kRegisters, false, where);
#else
  KITH_SM90A("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kRegisters));
#endif
}

template <unsigned kRegisters>
__device__ __forceinline__ void raise_register_limit(KITH_WHERE) {
  static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0);
#if defined(KITH_IS_EMULATED)
  ::emulator::set_register_limit(kRegisters, true, where);
#else
  KITH_SM90A("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kRegisters));
#endif
}

}  // namespace kith::KITH_BACKEND::inline runtime
