// bit_key.hpp: distances of packed bits from counts, which are exact, and bounds of counts from distances.
//
// A key is made of integers by one division in double and one rounding to float, so that every backend gets the same
// bits; that of hamming is what core/key.hpp makes of the same rows of zeros and ones. Kernels look for pairs whose key
// is below a limit: their tests leave out no such pair, and the key decides about those that they leave.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/host_device.hpp"
#include "kith/bit_metric.hpp"

namespace kith::core {

// Counts, and sums of two, fit into 31 bits.
inline constexpr std::int64_t kMostBits = std::int64_t{1} << 30;

// Of a pair that passed a kernel's test.
inline constexpr std::int64_t kBitHitBytes = 12;

KITH_HOST_DEVICE inline float hamming_key(std::int64_t differing, std::int64_t bits) {
  return static_cast<float>(static_cast<double>(differing) / static_cast<double>(bits));
}

// Of rows with so many bits set, and so many set in both.
KITH_HOST_DEVICE inline float jaccard_key(std::int64_t common, std::int64_t in_x, std::int64_t in_y) {
  const std::int64_t in_either = in_x + in_y - common;
  if (in_either == 0) return 0;
  return static_cast<float>(1.0 - static_cast<double>(common) / static_cast<double>(in_either));
}

// How many counts of differing bits, from 0 on, have a key below `below`.
inline std::int32_t hamming_limit(float below, std::int64_t bits) {
  if (!(below <= 1)) return static_cast<std::int32_t>(bits + 1);
  if (!(below > 0)) return 0;
  auto count = static_cast<std::int64_t>(static_cast<double>(below) * static_cast<double>(bits));
  while (count > 0 && hamming_key(count - 1, bits) >= below) --count;
  while (count <= bits && hamming_key(count, bits) < below) ++count;
  return static_cast<std::int32_t>(count);
}

// A pair may have a key below the limit only if common ≥ slope · in_y + floor, in float.
struct JaccardLimit {
  float slope = 0;
  float floor = 0;
};

// With u = in_x + in_y − common, a key below `below` needs common / u > 1 − below, but for roundings in double; that is
// common > r / (1 + r) · (in_x + in_y) with r = 1 − below. The slope is less by more than what roundings to float add.
inline JaccardLimit jaccard_limit(float below, std::int64_t in_x) {
  if (!(below <= 1)) return {0, 0};
  // No key is below 0. No more than half of in_x + in_y is common, and 0 is not half.
  if (!(below > 0)) return {1, static_cast<float>(in_x) + 0.5F};
  constexpr double kRounding = 0x1p-50;
  constexpr double kMargin = 1 - 0x1p-20;
  const double share = std::max(0.0, 1.0 - static_cast<double>(below) - kRounding);
  const double slope = share / (1 + share) * kMargin;
  return {static_cast<float>(slope), static_cast<float>(slope * static_cast<double>(in_x))};
}

}  // namespace kith::core
