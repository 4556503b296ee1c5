// float_pair_sum.cuh: sums of exact keys (core/key.hpp) in pairs of floats, for devices that have double precision at a
// small part of the rate of single precision.
// Idea    a sum is high + low, and every addition keeps what it rounds off (Knuth's two-sum, products by fma), so that
//         twice as many bits are right. The sum in double and in the order of keys lies within a bound of it. Where
//         both ends of the bound give the same key, that is the key; else (seldom: one in some thousands) doubles
//         decide.
// Cost    a coordinate: 18 operations in single precision in place of 2 conversions and 3 operations in double.
// Limits  finite floats without means; forms squared, absolute and dot.
#pragma once

#include <cmath>

#include "core/key.hpp"
#include "cuda/points/key_lanes.cuh"
#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::distance {

// a + b, exactly: the rounded sum and what rounding left.
struct ExactSum {
  float sum;
  float rest;

  __device__ __forceinline__ ExactSum(float a, float b) : sum(a + b) {
    const float part = sum - a;
    rest = (a - (sum - part)) + (b - part);
  }
};

template <core::Form kForm>
struct FloatPairSum {
  static_assert(kForm == core::Form::squared || kForm == core::Form::absolute || kForm == core::Form::dot);

  float high = 0;
  float low = 0;
  float size = 0;  // form dot: the sum of magnitudes of terms; others: the largest difference

  __device__ __forceinline__ void add(float x, float y) {
    if constexpr (kForm == core::Form::dot) {
      const float product = x * y;
      size += fabsf(product);
      add_term(product, fmaf(x, y, -product));
    } else {
      const ExactSum difference(x, -y);
      size = fmaxf(size, fabsf(difference.sum));
      if constexpr (kForm == core::Form::squared) {
        const float square = difference.sum * difference.sum;
        const float rest = fmaf(difference.sum, difference.sum, -square);
        add_term(square, fmaf(2 * difference.sum, difference.rest, rest));
      } else {
        const bool negative = difference.sum < 0;
        add_term(fabsf(difference.sum), negative ? -difference.rest : difference.rest);
      }
    }
  }

  // Of all lanes of a group. Must be called by all lanes of the warp.
  __device__ __forceinline__ void combine() {
    for (int step = core::kLanes / 2; step > 0; step /= 2) {
      const float other_low = __shfl_xor_sync(kFullMask, low, step);
      add_term(__shfl_xor_sync(kFullMask, high, step), other_low);
      const float other_size = __shfl_xor_sync(kFullMask, size, step);
      size = kForm == core::Form::dot ? size + other_size : fmaxf(size, other_size);
    }
  }

  __device__ __forceinline__ double value() const { return static_cast<double>(high) + static_cast<double>(low); }

  // Whether nothing overflowed, and what underflowed is far below the bound.
  __device__ __forceinline__ bool has_bound() const {
    constexpr float kLeast = 0x1p-80F;
    constexpr float kMost = 0x1p120F;
    const float sum = magnitude();
    return sum >= kLeast && sum <= kMost && size <= kMost;
  }
  // All differences are zero.
  __device__ __forceinline__ bool is_zero() const { return kForm != core::Form::dot && size == 0 && high == 0; }

  // How far value() may be from the sum in double, as a part of the sum of magnitudes. With u = 2⁻²⁴, S that sum and n
  // terms a lane: `low` stays below (n + 3) u S and is rounded twice a term, which comes to (n² / 2 + 5 n + 8) u² S; a
  // term is off by 5 u² of itself, combining eight lanes adds 3 (n + 6) u² S, and the double sum is off by (n + 8) 2⁻⁵³
  // S. The bound is twice that, for second-order terms and the rounding of S.
  __device__ __forceinline__ static double relative_bound(std::int64_t dims) {
    const float n = static_cast<float>(dims) / core::kLanes + 1;
    return static_cast<double>((n * n + 20 * n + 80) * 0x1p-48F);
  }
  __device__ __forceinline__ double bound(std::int64_t dims) const {
    return relative_bound(dims) * static_cast<double>(magnitude());
  }

 private:
  __device__ __forceinline__ float magnitude() const { return kForm == core::Form::dot ? size : high; }

  __device__ __forceinline__ void add_term(float term, float rest) {
    const ExactSum sum(high, term);
    high = sum.sum;
    low += sum.rest + rest;
  }
};

}  // namespace kith::KITH_BACKEND::distance
