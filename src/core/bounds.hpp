// bounds.hpp: rounding errors of sums, and the raw sums that share a key.
// Fast paths use them to drop only points that are provably farther than the k-th neighbor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/elements.hpp"
#include "core/key.hpp"

namespace kith::core {

template <class F>
KITH_HOST_DEVICE constexpr double unit_roundoff() {
  return static_cast<double>(std::numeric_limits<F>::epsilon()) / 2;
}

// The product of the factors of n roundings in F, in any order, lies within 1 ± gamma(n).
template <class F>
KITH_HOST_DEVICE double gamma(std::int64_t n) {
  const double nu = static_cast<double>(n) * unit_roundoff<F>();
  return nu < 0.5 ? nu / (1 - nu) : std::numeric_limits<double>::infinity();
}

// Returns the smallest F not below value.
template <class F>
KITH_HOST_DEVICE F round_up(double value) {
  const F rounded = static_cast<F>(value);
  return static_cast<double>(rounded) < value ? std::nextafter(rounded, std::numeric_limits<F>::infinity()) : rounded;
}

template <class F>
constexpr double largest_value() {
  if constexpr (kIs16BitFloat<F>) {
    return std::is_same_v<F, Float16> ? 65504 : 0x1.FEp127;
  } else {
    return static_cast<double>(std::numeric_limits<F>::max());
  }
}

// The largest coordinate of type F: squares of Euclidean distances must not overflow where the distances themselves do
// not. Under other metrics a distance that is too large for the returned type is infinite.
template <class F>
double largest_coordinate(const Metric& metric, std::int64_t dims) {
  constexpr double kLargest = 1e150;  // in up to 45 million dimensions
  const double largest = largest_value<F>();
  if (effective_kind(metric) != MetricKind::euclidean) return largest;
  const double many_dims = std::sqrt(std::numeric_limits<double>::max() / static_cast<double>(dims)) / 4;
  return std::min({largest, kLargest, many_dims});
}

// Inverts finish() for metrics whose key is an increasing function of the raw sum alone; never below the true inverse.
KITH_HOST_DEVICE inline double raw_of_distance(const Metric& metric, double distance, std::int64_t dims) {
  switch (effective_kind(metric)) {
    case MetricKind::euclidean: return distance * distance * (1 + 4e-16);
    // finish() takes the power 1/p, itself rounded: an error of |log raw| ≤ 745 roundings, beside pow's own.
    case MetricKind::minkowski: return std::pow(distance, metric.p) * (1 + 2e-13 + metric.p * 1e-15);
    case MetricKind::hamming: return distance * static_cast<double>(dims) * (1 + 4e-16);
    case MetricKind::sqeuclidean:
    case MetricKind::manhattan:
    case MetricKind::chebyshev:
    case MetricKind::canberra:
    case MetricKind::cosine:
    case MetricKind::correlation:
    case MetricKind::inner_product: return distance;
  }
  return distance;
}

// Raw sums above the result have keys strictly above `key`: they cannot win, whatever their id. For form dot the raw
// sum stands for the distance itself: the negated product, or the cosine distance.
template <class D>
KITH_HOST_DEVICE double raw_ceiling(const Metric& metric, D key, std::int64_t dims) {
  return raw_of_distance(metric, static_cast<double>(std::nextafter(key, std::numeric_limits<D>::infinity())), dims);
}

}  // namespace kith::core
