// async_copy.cuh: cp.async, copies from global to shared memory that need no registers and do not block their thread.
// A thread starts copies, closes a group of them with commit_copies(), and calls wait_for_copies<N>() before it reads:
// all groups but the N committed last have then arrived. Copies of other threads are visible after a barrier that
// follows their waits.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline runtime {

// The destination of copies in shared memory. The address is converted once, in volatile assembly: the compiler would
// otherwise convert it again for every copy instead of keeping it in a register.
template <class T>
class SharedAddress {
 public:
#if defined(KITH_IS_EMULATED)
  __device__ explicit SharedAddress(T* address) : address_(address) {}
#else
  __device__ __forceinline__ explicit SharedAddress(T* address) {
    asm volatile("mov.u32 %0, %1;\n" : "=r"(address_) : "r"(static_cast<unsigned>(__cvta_generic_to_shared(address))));
  }
#endif

  // address[offset] = inside ? *from : zero. T has 4, 8 or 16 bytes, to which both addresses are aligned; `from` is not
  // read, and may point anywhere, where it is not inside.
  __device__ __forceinline__ void copy_async_or_zero(unsigned offset, const T* from, bool inside) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
#if defined(KITH_IS_EMULATED)
    if (inside)
      ::emulator::async_copy(address_ + offset, from, sizeof(T));
    else
      address_[offset] = T{};
#else
    asm volatile(
        "{\n"
        "  .reg .pred outside;\n"
        "  setp.eq.u32 outside, %3, 0;\n"
        "  cp.async.ca.shared.global [%0], [%1], %2, outside;\n"
        "}\n" ::"r"(address_ + offset * static_cast<unsigned>(sizeof(T))),
        "l"(from), "n"(sizeof(T)), "r"(static_cast<unsigned>(inside)));
#endif
  }

 private:
#if defined(KITH_IS_EMULATED)
  T* address_;
#else
  unsigned address_;
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
