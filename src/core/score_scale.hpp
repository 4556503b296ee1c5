// score_scale.hpp: the power of two that coordinates of float are multiplied by before their scores are computed, so
// that squares stay within the range of float. Keys, which are sums in double, need none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/key.hpp"

namespace kith::core {

// Rows whose magnitudes tell what is usual.
inline constexpr std::int64_t kScaleSample = 15;

// Whether scores by this metric have squares or products.
inline bool has_scaled_scores(const Metric& metric) {
  const MetricKind kind = effective_kind(metric);
  return kind == MetricKind::euclidean || kind == MetricKind::sqeuclidean || kind == MetricKind::inner_product;
}

// By the largest magnitudes of a sample of rows, and largest(), that of all rows, which is called where it is needed.
template <class Largest>
double score_scale_of(std::vector<double> sample, Largest largest) {
  sample.erase(
      std::remove_if(sample.begin(), sample.end(), [](double value) { return !(value > 0) || !std::isfinite(value); }),
      sample.end());
  if (sample.empty()) return 1;
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  std::nth_element(sample.begin(), middle, sample.end());
  constexpr int kLeast = -32;  // exponents between which squares of differences have all their digits
  constexpr int kMost = 50;
  const int usual = std::ilogb(*middle);
  if (usual >= kLeast && usual <= kMost) return 1;
  const double most = largest();
  if (!std::isfinite(most)) return 1;
  constexpr int kFarthest = 60;  // exponent of the largest: no scaled coordinate of the base may be infinite
  constexpr int kLargest = 120;  // of the scale, which is a float
  return std::ldexp(1.0, std::min({-usual, kFarthest - std::ilogb(most), kLargest}));
}

}  // namespace kith::core
