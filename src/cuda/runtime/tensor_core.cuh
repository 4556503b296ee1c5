// tensor_core.cuh: mma.m16n8k16, a warp's product of fp16 fragments: 16 × 8 float sums over 16 coordinates; and
// mma.m16n8k32, the same of bytes with integer sums over 32 coordinates, four of which take the place of two fp16.
// Fragments have the layout of the PTX manual. With g = lane / 4, t = lane % 4, and two fp16 per 4-byte register:
//   left   16 rows × 16 coordinates: rows g and g + 8 (registers 0, 1), coordinates 2t and 2t + 1; then the coordinates
//          8 further (registers 2, 3)
//   right  8 rows × 16 coordinates: row g, coordinates 2t and 2t + 1; then 8 further
//   sums   row g, columns 2t and 2t + 1; then row g + 8
// Must be called by all lanes of the warp. The emulator computes the same with shuffles.
#pragma once

#include "cuda/runtime/fp16.cuh"

namespace kith::KITH_BACKEND::inline runtime {

// Register i of lane l gets two fp16 of the row whose address lane 8i + l / 4 gives, at 2 · (l % 4): four blocks of 8
// rows × 8 coordinates. Rows are in shared memory, at multiples of 16 bytes.
__device__ __forceinline__ void load_fragments(const Fp16* row, unsigned (&registers)[4]) {
#if defined(KITH_IS_EMULATED)
  ::emulator::need("ldmatrix", 75);
  for (unsigned i = 0; i < 4; ++i) {
    const auto address =
        __shfl_sync(kFullMask, reinterpret_cast<std::uintptr_t>(row), static_cast<int>(8 * i + lane_id() / 4));
    registers[i] = reinterpret_cast<const unsigned*>(address)[lane_id() % 4];  // NOLINT(performance-no-int-to-ptr)
  }
  __syncwarp();
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
#endif
}

// Column of the i-th sum that a lane has of a row, less that of the first: of 8 columns it has two.
__device__ __forceinline__ constexpr unsigned fragment_column(unsigned i) {
  return i / 2 * 8 + i % 2;
}

#if defined(KITH_IS_EMULATED)
inline float fp16_in(std::uint64_t registers, unsigned i) {
  Fp16 values[4];
  std::memcpy(values, &registers, sizeof(values));
  return float_of(values[i]);
}
#endif

// sums += left · rightᵀ
__device__ __forceinline__ void multiply_fragments(const unsigned (&left)[4], unsigned right0, unsigned right1,
                                                   float (&sums)[4]) {
#if defined(KITH_IS_EMULATED)
  ::emulator::need("mma.m16n8k16", 80);
  const std::uint64_t near = left[0] | static_cast<std::uint64_t>(left[1]) << 32U;
  const std::uint64_t far = left[2] | static_cast<std::uint64_t>(left[3]) << 32U;
  const std::uint64_t mine = right0 | static_cast<std::uint64_t>(right1) << 32U;
  const unsigned g = lane_id() / 4;
  const unsigned t = lane_id() % 4;
  for (unsigned i = 0; i < 4; ++i) {  // the lanes that hold coordinates 2i, 2i + 1, 2i + 8 and 2i + 9
    const std::uint64_t x_near = __shfl_sync(kFullMask, near, static_cast<int>(4 * g + i));
    const std::uint64_t x_far = __shfl_sync(kFullMask, far, static_cast<int>(4 * g + i));
    for (unsigned column = 0; column < 2; ++column) {
      const std::uint64_t y = __shfl_sync(kFullMask, mine, static_cast<int>(4 * (2 * t + column) + i));
      for (unsigned row = 0; row < 2; ++row)
        for (unsigned half = 0; half < 2; ++half)
          sums[2 * row + column] += fp16_in(x_near, 2 * row + half) * fp16_in(y, half) +
                                    fp16_in(x_far, 2 * row + half) * fp16_in(y, 2 + half);
    }
  }
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};\n"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
#endif
}

#if defined(KITH_IS_EMULATED)
template <bool kSigned>
inline int byte_products(unsigned left, unsigned right) {
  int sum = 0;
  for (unsigned i = 0; i < 32; i += 8) {
    const auto x = static_cast<unsigned char>(left >> i);
    const auto y = static_cast<unsigned char>(right >> i);
    sum += kSigned ? static_cast<signed char>(x) * static_cast<signed char>(y) : x * y;
  }
  return sum;
}
#endif

// sums += left · rightᵀ, of int8 or of uint8.
template <bool kSigned>
__device__ __forceinline__ void multiply_byte_fragments(const unsigned (&left)[4], unsigned right0, unsigned right1,
                                                        int (&sums)[4]) {
#if defined(KITH_IS_EMULATED)
  ::emulator::need("mma.m16n8k32", 80);
  const unsigned right[2] = {right0, right1};
  const unsigned g = lane_id() / 4;
  const unsigned t = lane_id() % 4;
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned part = 0; part < 2; ++part)
      for (unsigned row = 0; row < 2; ++row) {
        const unsigned x = __shfl_sync(kFullMask, left[2 * part + row], static_cast<int>(4 * g + i));
        for (unsigned column = 0; column < 2; ++column) {
          const unsigned y = __shfl_sync(kFullMask, right[part], static_cast<int>(4 * (2 * t + column) + i));
          sums[2 * row + column] += byte_products<kSigned>(x, y);
        }
      }
#else
  if constexpr (kSigned) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};\n"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};\n"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
  }
#endif
}

}  // namespace kith::KITH_BACKEND::inline runtime
