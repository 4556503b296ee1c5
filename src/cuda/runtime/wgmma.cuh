// wgmma.cuh: products of the tensor cores that a warpgroup starts and does not wait for: 64 × N sums over 32 bytes of
// each row, 16 coordinates in fp16 and bf16 with sums in float, 32 in 8-bit integers with sums in int.
//   wgmma_fence(sums);                                  orders earlier uses of the registers before the products
//   wgmma<WgmmaElement::fp16>(sums, left, right, add);  for each 32 bytes of the rows
//   wgmma_commit();
//   wgmma_wait<0>(sums);                                only now may the sums be read, and the operands overwritten
// All threads of the warpgroup call these, with the same arguments. With w = warp % 4, g = lane / 4, t = lane % 4:
//   sums[4j + 2h + e]   row 16w + g + 8h, column 8j + 2t + e
//   left[2m + h]        row 16w + g + 8h, bytes 16m + 4t … 16m + 4t + 3 of the 32, where it is in registers
// Operands in shared memory are K-major: rows of coordinates. What threads, rather than copies, wrote there needs
// fence_proxy_async() by each writer and then a barrier. ptxas reports sums that it had to wait for (warning C7514 and
// others): that is where registers of products in flight were used, or sums do not stay in registers.
#pragma once

#include <type_traits>

#include "cuda/runtime/hopper.cuh"
#include "cuda/runtime/tensor_map.hpp"

#if !defined(KITH_IS_EMULATED)
#include "cuda/runtime/wgmma_ptx.cuh"
#endif

namespace kith::KITH_BACKEND::inline runtime {

#if defined(KITH_IS_EMULATED)
using WgmmaElement = ::emulator::Element;
#endif

template <WgmmaElement kElement>
constexpr bool kIsFloatProduct = kElement == WgmmaElement::fp16 || kElement == WgmmaElement::bf16;

template <WgmmaElement kElement>
using WgmmaSum = std::conditional_t<kIsFloatProduct<kElement>, float, int>;

// An operand in shared memory: the 32 bytes of its rows that a product takes.
class WgmmaOperand {
 public:
  // Rows as wide as the swizzle, one after the other, as a copy with that swizzle brings them. The tile is aligned to 8
  // rows: tile_alignment().
  __device__ WgmmaOperand(const void* tile, Swizzle swizzle)
      : WgmmaOperand(tile, swizzle, 16, 8 * static_cast<unsigned>(swizzle)) {}

  // Without a swizzle: blocks of 8 rows × 16 bytes, each contiguous, `leading_bytes` from one to the next along the
  // rows and `stride_bytes` to that of the next 8 rows. Copies of boxes 16 bytes wide bring such tiles, 128 bytes
  // apart.
  __device__ WgmmaOperand(const void* tile, unsigned leading_bytes, unsigned stride_bytes)
      : WgmmaOperand(tile, Swizzle::none, leading_bytes, stride_bytes) {}

  // The same rows, so many bytes further: multiples of 32 within a swizzle's rows, or another tile.
  __device__ WgmmaOperand further(unsigned bytes) const {
    WgmmaOperand moved = *this;
#if defined(KITH_IS_EMULATED)
    moved.tile_.start += bytes;
#else
    moved.low_ += bytes / 16;  // addresses never carry into the other fields
#endif
    return moved;
  }

#if defined(KITH_IS_EMULATED)
  const ::emulator::OperandTile& tile() const {
    return tile_;
  }
#else
  __device__ std::uint64_t descriptor() const {
    return static_cast<std::uint64_t>(high_) << 32U | low_;
  }
#endif

 private:
#if defined(KITH_IS_EMULATED)
  WgmmaOperand(const void* tile, Swizzle swizzle, unsigned leading_bytes, unsigned stride_bytes)
      : tile_{static_cast<const unsigned char*>(tile), leading_bytes, stride_bytes, static_cast<unsigned>(swizzle)} {}

  ::emulator::OperandTile tile_;
#else
  // Bits 0-13 address / 16, 16-29 leading / 16, 32-45 stride / 16, 62-63 the swizzle.
  __device__ WgmmaOperand(const void* tile, Swizzle swizzle, unsigned leading_bytes, unsigned stride_bytes)
      : low_((shared_address(tile) & 0x3FFFFU) >> 4U | leading_bytes / 16 << 16U),
        high_(stride_bytes / 16 | code_of(swizzle) << 30U) {}

  __device__ static constexpr unsigned code_of(Swizzle swizzle) {
    switch (swizzle) {
      case Swizzle::none: return 0;
      case Swizzle::bytes_128: return 1;
      case Swizzle::bytes_64: return 2;
      default: return 3;
    }
  }

  unsigned low_;
  unsigned high_;
#endif
};

#if !defined(KITH_IS_EMULATED)
// Makes the compiler believe that the registers change here, so that it moves no use of them across.
template <unsigned kCount>
__device__ __forceinline__ void pin(float (&registers)[kCount]) {
  KITH_UNROLL for (unsigned i = 0; i < kCount; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}
template <class T, unsigned kCount>
__device__ __forceinline__ void pin(T (&registers)[kCount]) {
  KITH_UNROLL for (unsigned i = 0; i < kCount; ++i) asm volatile("" : "+r"(registers[i])::"memory");
}
#endif

// Names all registers that the products after it use: sums, and left operands in registers. Needed before the first
// product and after each use of them by anything else.
template <class... Registers>
__device__ __forceinline__ void wgmma_fence(Registers&... registers) {
#if defined(KITH_IS_EMULATED)
  ::emulator::wgmma_fence({{&registers, sizeof registers}...}, ::emulator::Where::current());
#else
  (pin(registers), ...);
  KITH_SM90A("wgmma.fence.sync.aligned;\n" ::: "memory");
#endif
}

// sums = left · rightᵀ, added to the sums if `add`. The number of sums says how many rows right has.
template <WgmmaElement kElement, unsigned kSums>
__device__ __forceinline__ void wgmma(WgmmaSum<kElement> (&sums)[kSums], WgmmaOperand left, WgmmaOperand right,
                                      bool add KITH_AND_WHERE) {
#if defined(KITH_IS_EMULATED)
  ::emulator::wgmma({kElement, 2 * kSums, add, false, left.tile(), right.tile()}, sums, nullptr, where);
#else
  WgmmaPtx<kElement, kSums>::multiply(sums, left.descriptor(), right.descriptor(), add ? 1 : 0);
#endif
}

template <WgmmaElement kElement, unsigned kSums>
__device__ __forceinline__ void wgmma(WgmmaSum<kElement> (&sums)[kSums], const unsigned (&left)[4], WgmmaOperand right,
                                      bool add KITH_AND_WHERE) {
#if defined(KITH_IS_EMULATED)
  ::emulator::wgmma({kElement, 2 * kSums, add, true, {}, right.tile()}, sums, left, where);
#else
  WgmmaPtx<kElement, kSums>::multiply(sums, left, right.descriptor(), add ? 1 : 0);
#endif
}

// Closes a group of products.
__device__ __forceinline__ void wgmma_commit(KITH_WHERE) {
#if defined(KITH_IS_EMULATED)
  ::emulator::wgmma_commit(where);
#else
  KITH_SM90A("wgmma.commit_group.sync.aligned;\n" ::: "memory");
#endif
}

// Waits for all groups but the `kPending` committed last; names the sums that are read next.
template <unsigned kPending, class... Sums>
__device__ __forceinline__ void wgmma_wait(Sums&... sums) {
#if defined(KITH_IS_EMULATED)
  ::emulator::wgmma_wait(kPending, {{&sums, sizeof sums}...}, ::emulator::Where::current());
#else
  KITH_SM90A("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kPending) : "memory");
  (pin(sums), ...);
#endif
}

}  // namespace kith::KITH_BACKEND::inline runtime
