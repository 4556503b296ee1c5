// lane_key.cuh: the raw sum of an exact key (core/key.hpp) by one lane, bit for bit that of a group of eight.
#pragma once

#include "cuda/distance/key_group.cuh"

namespace kith::KITH_BACKEND::distance {

// The term of one coordinate. Must not become a fused multiply-add: device sources are compiled without contraction.
template <bool kSquares>
__device__ __forceinline__ double lane_term(core::Form form, double p, double x, double y) {
  if constexpr (kSquares) return (x - y) * (x - y);
  return any_term(form, p, x, y);
}

// The sum over coordinates x(c) and y(c), both double. kDims is their number where it is 2 or 3, else 0; lanes of the
// sum without a coordinate would add +0 and are left out then.
template <bool kSquares, int kDims, class X, class Y>
__device__ __forceinline__ double lane_raw(core::Form form, double p, unsigned dims, X x, Y y) {
  const auto term = [&](unsigned c) { return lane_term<kSquares>(form, p, x(c), y(c)); };
  const auto both = [&](double a, double b) { return kSquares ? a + b : add_term(form, a, b); };
  if constexpr (kDims == 2) {
    return both(term(0), term(1));
  } else if constexpr (kDims == 3) {
    return both(both(term(0), term(2)), term(1));
  } else {
    double lanes[core::kLanes] = {};
    for (unsigned c = 0; c < dims; c += core::kLanes) {
      KITH_UNROLL
      for (unsigned i = 0; i < core::kLanes; ++i)
        if (c + i < dims) lanes[i] = both(lanes[i], term(c + i));
    }
    return both(both(both(lanes[0], lanes[4]), both(lanes[2], lanes[6])),
                both(both(lanes[1], lanes[5]), both(lanes[3], lanes[7])));
  }
}

}  // namespace kith::KITH_BACKEND::distance
