// bulk_copy.cuh: copies from global to shared memory that one thread starts and the hardware performs (TMA).
// The bytes count for an mbarrier when they have landed; a thread that waited for its phase may read them, and wgmma of
// its warp may. A copy must not start before the last reader of its destination has said so, through another mbarrier.
// A tile is brought row after row without gaps, swizzled as its map says.
#pragma once

#include "cuda/runtime/hopper.cuh"
#include "cuda/runtime/mbarrier.cuh"
#include "cuda/runtime/tensor_map.hpp"

namespace kith::KITH_BACKEND::inline runtime {

// What tiles are aligned to: 128 bytes, and with a swizzle 8 of its rows.
__host__ __device__ constexpr unsigned tile_alignment(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 128 : 8 * static_cast<unsigned>(swizzle);
}

// The first address in shared memory from here on that is a multiple of `bytes`, a power of two. Dynamic shared memory
// starts anywhere: ask for that much more of it.
__device__ __forceinline__ unsigned char* align_shared(unsigned char* address, unsigned bytes) {
#if defined(KITH_IS_EMULATED)
  const auto number = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address));
#else
  const unsigned number = shared_address(address);
#endif
  return address + ((bytes - number % bytes) % bytes);
}

// Copies the map's box whose first element is in column x and row y; what is outside of the matrix becomes zero, and
// counts among the bytes.
__device__ __forceinline__ void bulk_tensor_copy(void* shared, const TensorMap* map, int x, int y,
                                                 Mbarrier* barrier KITH_AND_WHERE) {
#if defined(KITH_IS_EMULATED)
  ::emulator::bulk_tensor_copy(shared, *map, x, y, &barrier->state, where);
#else
  KITH_SM90(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];\n" ::"r"(
          shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y)
      : "memory");
#endif
}

// Copies a multiple of 16 bytes; both addresses are multiples of 16.
__device__ __forceinline__ void bulk_copy(void* shared, const void* from, unsigned bytes,
                                          Mbarrier* barrier KITH_AND_WHERE) {
#if defined(KITH_IS_EMULATED)
  ::emulator::bulk_copy(shared, from, bytes, &barrier->state, where);
#else
  KITH_SM90("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(
                shared_address(shared)),
            "l"(from), "r"(bytes), "r"(shared_address(barrier))
            : "memory");
#endif
}

}  // namespace kith::KITH_BACKEND::inline runtime
