// bulk_copy.hpp: copies of tiles to shared memory that the hardware performs by itself and reports to an mbarrier.
// A copy lands when the scheduler says so; until then its destination is poisoned.
#pragma once

#include "emulator/execution.hpp"

namespace emulator {

// A matrix in global memory and the box that one copy takes from it. Sizes are in elements, along a row first.
struct TensorMap {
  const void* base;
  unsigned element_bytes;
  std::uint64_t width, height;
  std::uint64_t row_bytes;  // from one row to the next
  unsigned box_width, box_height;
  unsigned swizzle_bytes;  // 0, 32, 64 or 128
};

// Copies the box at column x and row y; what lies outside of the matrix is zero.
void bulk_tensor_copy(void* shared_destination, const TensorMap& map, int x, int y, std::uint64_t* barrier,
                      Where where);
void bulk_copy(void* shared_destination, const void* global_source, unsigned bytes, std::uint64_t* barrier,
               Where where);

// The address of a 16-byte unit of a swizzled tile: which of the units of its row it takes depends on the row.
inline std::uintptr_t swizzled(std::uintptr_t address, unsigned swizzle_bytes) {
  return swizzle_bytes == 0 ? address : address ^ ((address >> 7U & (swizzle_bytes / 16 - 1)) << 4U);
}

}  // namespace emulator
