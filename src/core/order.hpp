// order.hpp: keys as integers whose order is the order of neighbors.
// −0 equals +0 and NaN comes last, so that sorting is well defined for all data.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::core {

inline std::uint32_t ordered_bits(float value) {
  if (std::isnan(value)) return std::numeric_limits<std::uint32_t>::max();
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

inline std::uint64_t ordered_bits(double value) {
  if (std::isnan(value)) return std::numeric_limits<std::uint64_t>::max();
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return (bits & 0x8000000000000000ULL) != 0 ? ~bits : bits | 0x8000000000000000ULL;
}

// The inverses, for values that are not NaN.
inline float from_ordered_bits(std::uint32_t bits) {
  return std::bit_cast<float>((bits & 0x80000000U) != 0 ? bits & 0x7FFFFFFFU : ~bits);
}

inline double from_ordered_bits(std::uint64_t bits) {
  return std::bit_cast<double>((bits & 0x8000000000000000ULL) != 0 ? bits & 0x7FFFFFFFFFFFFFFFULL : ~bits);
}

// The least value above `threshold`; infinity for infinity and NaN.
template <class F>
F next_above(F threshold) {
  if (!(threshold < std::numeric_limits<F>::max())) return std::numeric_limits<F>::infinity();
  return from_ordered_bits(ordered_bits(threshold) + 1);
}

// A neighbor with its key, which is the distance, or minus the inner product.
template <class D>
struct Hit {
  D key;
  std::int64_t id;

  friend bool operator<(const Hit& a, const Hit& b) {
    const auto x = ordered_bits(a.key);
    const auto y = ordered_bits(b.key);
    return x != y ? x < y : a.id < b.id;
  }
};

}  // namespace kith::core
