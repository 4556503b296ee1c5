// mbarrier.cuh: barriers in shared memory whose phases end when threads have arrived and bytes of copies have landed.
//   KITH_SHARED(Mbarrier, full, 4);
//   one thread: mbarrier_init(&full[i], 1) for all, fence_mbarrier_init(); then __syncthreads()
//   producer:   mbarrier_arrive_expect(&full[i], bytes), then copies of so many bytes in all
//   consumers:  mbarrier_wait(&full[i], parity), where parity is 0 in the first phase, 1 in the second, 0 in the third,
//   …
// A wait for parity 1 before the first phase ends returns at once: so a producer waits for stages that are empty
// anyway. A thread must not fall two phases behind: parities would look the same.
#pragma once

#include "cuda/runtime/hopper.cuh"

namespace kith::KITH_BACKEND::inline runtime {

struct Mbarrier {
  std::uint64_t state;
};

__device__ __forceinline__ void mbarrier_init(Mbarrier* barrier, unsigned arrivals KITH_AND_WHERE) {
#if defined(KITH_IS_EMULATED)
  ::emulator::mbarrier_init(&barrier->state, arrivals, where);
#else
  KITH_SM90("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
#endif
}

// By the thread that initialized barriers: copies see them then. A barrier of the block shows them to other threads.
__device__ __forceinline__ void fence_mbarrier_init() {
#if defined(KITH_IS_EMULATED)
  ::emulator::fence_mbarrier_init();
#else
  KITH_SM90("fence.mbarrier_init.release.cluster;\n" ::: "memory");
#endif
}

// By each thread that wrote to shared memory what copies or wgmma shall see or overwrite, before the barrier that tells
// the thread which starts them.
__device__ __forceinline__ void fence_proxy_async() {
#if defined(KITH_IS_EMULATED)
  ::emulator::fence_proxy_async();
#else
  KITH_SM90("fence.proxy.async.shared::cta;\n" ::: "memory");
#endif
}

__device__ __forceinline__ void mbarrier_arrive(Mbarrier* barrier KITH_AND_WHERE) {
#if defined(KITH_IS_EMULATED)
  ::emulator::mbarrier_arrive(&barrier->state, 0, where);
#else
  KITH_SM90("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(shared_address(barrier)) : "memory");
#endif
}

// Arrives, and makes the phase wait for `bytes` of copies.
__device__ __forceinline__ void mbarrier_arrive_expect(Mbarrier* barrier, unsigned bytes KITH_AND_WHERE) {
#if defined(KITH_IS_EMULATED)
  ::emulator::mbarrier_arrive(&barrier->state, bytes, where);
#else
  KITH_SM90("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(shared_address(barrier)), "r"(bytes)
            : "memory");
#endif
}

// Whether the phase of this parity has ended; takes its time to say no, so that threads that wait leave the others the
// multiprocessor.
__device__ __forceinline__ bool mbarrier_try_wait(Mbarrier* barrier, unsigned parity KITH_AND_WHERE) {
#if defined(KITH_IS_EMULATED)
  return ::emulator::mbarrier_try_wait(&barrier->state, parity, where);
#else
  [[maybe_unused]] constexpr unsigned kNanoseconds = 10'000'000;  // by other architectures
  unsigned ended = 0;
  KITH_SM90(
      "{\n"
      "  .reg .pred ended;\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2, %3;\n"
      "  selp.u32 %0, 1, 0, ended;\n"
      "}\n"
      : "=r"(ended)
      : "r"(shared_address(barrier)), "r"(parity), "r"(kNanoseconds)
      : "memory");
  return ended != 0;
#endif
}

__device__ __forceinline__ void mbarrier_wait(Mbarrier* barrier, unsigned parity KITH_AND_WHERE) {
#if defined(KITH_IS_EMULATED)
  ::emulator::mbarrier_wait(&barrier->state, parity, where);
#else
  while (!mbarrier_try_wait(barrier, parity)) {
  }
#endif
}

}  // namespace kith::KITH_BACKEND::inline runtime
