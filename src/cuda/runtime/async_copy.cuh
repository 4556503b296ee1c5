// async_copy.cuh: copies from global to shared memory that need no registers and do not make their thread wait.
// A thread starts copies, ends a group of them with commit_copies(), and says wait_for_copies<N>() before it reads:
// then all groups but the N it committed last have landed. What other threads copied, it sees behind a barrier that
// follows their waits.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline runtime {

// A place in shared memory that copies go to. Its address is found once: the compiler would rather find it anew for
// each copy than keep it in a register.
template <class T>
class SharedPlace {
 public:
#if defined(KITH_IS_EMULATED)
  __device__ explicit SharedPlace(T* place) : place_(place) {}
#else
  __device__ __forceinline__ explicit SharedPlace(T* place) {
    asm volatile("mov.u32 %0, %1;\n" : "=r"(place_) : "r"(static_cast<unsigned>(__cvta_generic_to_shared(place))));
  }
#endif

  // place[offset] = inside ? *from : zero. T has 4, 8 or 16 bytes, to which both addresses are aligned; `from` is not
  // read, and may point anywhere, where it is not inside.
  __device__ __forceinline__ void copy_async_or_zero(unsigned offset, const T* from, bool inside) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
#if defined(KITH_IS_EMULATED)
    if (inside)
      ::emulator::async_copy(place_ + offset, from, sizeof(T));
    else
      place_[offset] = T{};
#else
    asm volatile(
        "{\n"
        "  .reg .pred outside;\n"
        "  setp.eq.u32 outside, %3, 0;\n"
        "  cp.async.ca.shared.global [%0], [%1], %2, outside;\n"
        "}\n" ::"r"(place_ + offset * static_cast<unsigned>(sizeof(T))),
        "l"(from), "n"(sizeof(T)), "r"(static_cast<unsigned>(inside)));
#endif
  }

 private:
#if defined(KITH_IS_EMULATED)
  T* place_;
#else
  unsigned place_;
#endif
};

__device__ __forceinline__ void commit_copies() {
#if defined(KITH_IS_EMULATED)
  ::emulator::async_commit();
#else
  asm volatile("cp.async.commit_group;\n" ::: "memory");
#endif
}

template <unsigned N>
__device__ __forceinline__ void wait_for_copies() {
#if defined(KITH_IS_EMULATED)
  ::emulator::async_wait(N);
#else
  asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
#endif
}

}  // namespace kith::KITH_BACKEND::inline runtime
