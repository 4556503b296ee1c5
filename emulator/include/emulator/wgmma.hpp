// wgmma.hpp: products of the tensor cores that the four warps of a warpgroup start together.
// Sums are poisoned from the start of a product until a wait that covers it; then they are written. Each warp computes
// its 16 rows of the 64 from what is in shared memory when its last lane arrives.
#pragma once

#include <initializer_list>

#include "emulator/execution.hpp"

namespace emulator {

enum class Element : unsigned { fp16, bf16, int8, uint8 };

// 32 bytes of each row of a K-major operand in shared memory. Swizzled tiles are groups of 8 rows of swizzle_bytes, the
// groups stride_bytes apart; others are blocks of 8 rows × 16 bytes, stride_bytes apart from rows to rows and
// leading_bytes along a row.
struct OperandTile {
  const unsigned char* start;
  unsigned leading_bytes;
  unsigned stride_bytes;
  unsigned swizzle_bytes;
};

struct Product {
  Element element;
  unsigned columns;
  bool adds;  // to the sums; otherwise they are overwritten
  bool left_in_registers;
  OperandTile left;  // unless it is in registers
  OperandTile right;
};

struct Registers {
  const void* address;
  std::size_t bytes;
};

// Orders what was done with these registers before the products that follow.
void wgmma_fence(std::initializer_list<Registers> registers, Where where);
// `sums` has columns / 2 values of 4 bytes, `left` four registers.
void wgmma(const Product& product, void* sums, const unsigned* left, Where where);
void wgmma_commit(Where where);
// Waits for all groups but the `pending` committed last. The sums named must be complete then.
void wgmma_wait(unsigned pending, std::initializer_list<Registers> sums, Where where);

}  // namespace emulator
