// random.cuh: stateless random numbers and samples.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline primitives {

// A hash of (seed, i): 32 random bits for every pair.
__device__ __forceinline__ unsigned random_bits(unsigned seed, unsigned i) {
  unsigned x = seed * 0x9E3779B1U ^ i * 0xC2B2AE3DU;
  x = (x ^ (x >> 16U)) * 0x7FEB352DU;
  x = (x ^ (x >> 15U)) * 0x846CA68BU;
  return x ^ (x >> 16U);
}

// Position i of a random sample of `size` positions below `count` ≥ size: one from each of `size` equal parts, so that
// none is drawn twice and a sorted array is sampled evenly.
__device__ __forceinline__ unsigned sample_position(unsigned count, unsigned size, unsigned i, unsigned seed) {
  const auto first = static_cast<unsigned>(static_cast<std::uint64_t>(count) * i / size);
  const auto next = static_cast<unsigned>(static_cast<std::uint64_t>(count) * (i + 1) / size);
  return first + random_bits(seed, i) % (next - first);
}

}  // namespace kith::KITH_BACKEND::inline primitives
