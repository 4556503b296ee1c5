// nearness.cuh: from sums of products to scores and limits. A pair's nearness is its score times a negative factor, so
// that it is one addition away from the sum: sum − bias / −factor for floats; integers are doubled first, so that the
// score of an odd squared norm is an integer too.
#pragma once

#include <limits>

#include "cuda/runtime/wgmma.cuh"

namespace kith::KITH_BACKEND::tensor {

template <class Sum>
struct Nearness;

template <>
struct Nearness<float> {
  __device__ __forceinline__ static float add(float sum, float bias) { return sum + bias; }
  // `inverse` is that of the factor, a power of two.
  __device__ __forceinline__ static float of_bias(float bias, float inverse) { return bias * inverse; }
  // No score is at or below NaN.
  __device__ __forceinline__ static float of_limit(float limit, float inverse) {
    return limit == limit ? limit * inverse : std::numeric_limits<float>::infinity();
  }
  __device__ __forceinline__ static float least() { return -std::numeric_limits<float>::infinity(); }
  __device__ __forceinline__ static float most() { return std::numeric_limits<float>::infinity(); }
  __device__ __forceinline__ static float score(float nearness, float factor) { return nearness * factor; }
  __device__ __forceinline__ static float larger(float a, float b) { return fmaxf(a, b); }
};

template <>
struct Nearness<int> {
  __device__ __forceinline__ static int add(int sum, int bias) { return 2 * sum + bias; }
  __device__ __forceinline__ static int of_bias(float bias, float inverse) {
    return static_cast<int>(2 * bias * inverse);
  }
  __device__ __forceinline__ static int of_limit(float limit, float inverse) {
    if (limit != limit) return most();
    const float least_nearness = ceilf(2 * limit * inverse);
    return least_nearness >= 0x1p31F ? most() : least_nearness <= -0x1p31F ? least() : static_cast<int>(least_nearness);
  }
  // Below all sums, with room for one more.
  __device__ __forceinline__ static int least() { return std::numeric_limits<int>::min(); }
  __device__ __forceinline__ static int most() { return std::numeric_limits<int>::max(); }
  __device__ __forceinline__ static float score(int nearness, float factor) {
    return nearness == least() ? std::numeric_limits<float>::infinity() : static_cast<float>(nearness) * (factor / 2);
  }
  __device__ __forceinline__ static int larger(int a, int b) { return max(a, b); }
};

}  // namespace kith::KITH_BACKEND::tensor
