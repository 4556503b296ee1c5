// product_support.hpp: a product of a tile, for kernels that do one thing wrong with it.
#pragma once

#include "copy_support.hpp"
#include "cuda/runtime/warpgroup_kernels.cuh"

namespace kith::test {

using Int8Sums = int[kTileRows / 2];

// The product of a tile with itself over 32 bytes of its rows.
inline void multiply_tile(Int8Sums& sums, const unsigned char* tile,
                          ::emulator::Where where = ::emulator::Where::current()) {
  const WgmmaOperand operand(tile, Swizzle::bytes_128);
  device::wgmma<WgmmaElement::int8>(sums, operand, operand, false, where);
}

}  // namespace kith::test
