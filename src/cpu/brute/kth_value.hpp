// kth_value.hpp: a value that at least k of the given ones do not exceed, and few more than k.
// Idea    bisection over the values' bits with a SIMD count at each step: no element moves, and ties cost nothing.
#pragma once

#include <cstdint>
#include <limits>

#include "core/order.hpp"
#include "cpu/simd/kernels.hpp"

namespace kith::cpu {

// Returns infinity when fewer than k values are numbers. Up to k + `spare` values may not exceed the result.
template <class F>
F kth_value(const F* values, std::int64_t count, std::int64_t k, std::int64_t spare) {
  using Bits = decltype(core::ordered_bits(F{}));
  if (count_at_most(values, count, std::numeric_limits<F>::infinity()) < k) return std::numeric_limits<F>::infinity();
  // The bisection starts between the extremes. NaN compares false, so it is neither.
  F least = std::numeric_limits<F>::infinity();
  F most = -std::numeric_limits<F>::infinity();
  for (std::int64_t i = 0; i < count; ++i) {
    least = values[i] < least ? values[i] : least;
    most = values[i] > most ? values[i] : most;
  }
  Bits low = core::ordered_bits(least);
  Bits high = core::ordered_bits(most);
  while (low < high) {
    const Bits middle = low + (high - low) / 2;
    const std::int64_t found = count_at_most(values, count, core::from_ordered_bits(middle));
    if (found >= k) {
      high = middle;
      if (found <= k + spare) break;
    } else {
      low = middle + 1;
    }
  }
  return core::from_ordered_bits(high);
}

}  // namespace kith::cpu
