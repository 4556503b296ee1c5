// random.cuh: random values of kernels, one for every position and seed.
#pragma once

#include <cmath>

#include "common/random_bits.hpp"

namespace kith::bench::device {

#if defined(KITH_IS_EMULATED)
inline float cospif(float x) {
  return std::cos(3.14159265F * x);
}
#endif

__device__ inline unsigned long long random_bits(unsigned long long position, unsigned seed) {
  return bench::random_bits(position + (static_cast<unsigned long long>(seed) << 42));
}

// In [0, 1), 24 bits.
__device__ inline float uniform(unsigned long long position, unsigned seed) {
  return static_cast<float>(static_cast<unsigned>(random_bits(position, seed) >> 40)) * 0x1p-24F;
}

// Box and Muller, from two halves of the bits.
__device__ inline float gaussian(unsigned long long position, unsigned seed) {
  const unsigned long long bits = random_bits(position, seed);
  const float radius = (static_cast<float>(static_cast<unsigned>(bits >> 40)) + 1) * 0x1p-24F;
  const float angle = static_cast<float>(static_cast<unsigned>(bits & 0xFFFFFF)) * 0x1p-23F;
  return sqrtf(-2 * logf(radius)) * cospif(angle);
}

}  // namespace kith::bench::device
