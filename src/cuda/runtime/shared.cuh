// shared.cuh: declarations of shared memory; the emulator allocates blocks of exact size and checks their bounds.
//   KITH_SHARED(unsigned, counts, 256);        a static array of 256 unsigned
//   auto* keys = dynamic_shared<Key>();         the block's dynamic shared memory, from its start
#pragma once

#include "cuda/runtime/platform.cuh"

#if defined(KITH_IS_EMULATED)

// Each instance of a template has its own array; __PRETTY_FUNCTION__ identifies the instance.
#define KITH_SHARED(type, name, count)                                                                             \
  type* const name = ::emulator::shared_array<type>(static_cast<std::size_t>(count), __FILE__ ":" #name, __LINE__, \
                                                    __PRETTY_FUNCTION__)

namespace kith::KITH_BACKEND::inline runtime {
template <class T>
T* dynamic_shared() {
  return static_cast<T*>(::emulator::dynamic_shared());
}
}  // namespace kith::KITH_BACKEND::inline runtime

#else

#define KITH_SHARED(type, name, count) __shared__ type name[count]

namespace kith::KITH_BACKEND::inline runtime {
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char kith_dynamic_shared[];
  return reinterpret_cast<T*>(kith_dynamic_shared);
}
}  // namespace kith::KITH_BACKEND::inline runtime

#endif
