// tensor_map.hpp: the description of a matrix in global memory from which bulk_copy.cuh copies tiles.
// Kernels take it as `const __grid_constant__ TensorMap map`: the hardware reads it at the parameter's address.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#if !defined(KITH_IS_EMULATED)
#include <cuda.h>
#endif

namespace kith::KITH_BACKEND::inline runtime {

#if defined(KITH_IS_EMULATED)
using TensorMap = ::emulator::TensorMap;
#else
using TensorMap = CUtensorMap;
#endif

// How the 16-byte units of a tile's rows are permuted, so that 8 rows do not compete for the same banks: row i of each
// 8 has unit j where unit j ^ i would be, within so many bytes.
enum class Swizzle : unsigned { none = 0, bytes_32 = 32, bytes_64 = 64, bytes_128 = 128 };

// Sizes are in elements, along a row first. Addresses and row_bytes are multiples of 16, and so are the bytes of a
// box's row, which are those of the swizzle if there is one. A box has at most 256 rows and 256 elements in a row.
struct TensorShape {
  const void* base = nullptr;
  unsigned element_bytes = 1;  // 1, 2 or 4
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t row_bytes = 0;  // from one row to the next
  unsigned box_width = 0;
  unsigned box_height = 0;
  Swizzle swizzle = Swizzle::none;
};

// Throws Error(internal) that names the value and the limit.
TensorMap tensor_map(const TensorShape& shape);

}  // namespace kith::KITH_BACKEND::inline runtime
