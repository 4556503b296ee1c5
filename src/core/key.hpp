// key.hpp: the distance that is returned and that orders neighbors, the same in every method and backend.
//
// A key is made in three steps: raw sum → last step of the metric in double → one rounding to the returned type.
// The raw sum runs in double over eight striped lanes (coordinate c adds to lane c % 8; multiply, then add, never
// fused), combined in a fixed tree. SIMD and GPU code can follow this order bit for bit, and appended zeros change
// nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"
#include "kith/metric.hpp"

namespace kith::core {

inline constexpr int kLanes = 8;

// Combines the lanes of a sum in a fixed tree.
KITH_HOST_DEVICE inline double combine_lanes(const double* lane) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// The sum that a metric needs. Minkowski's with p = 1, 2 or infinity is computed as the metric it equals.
enum class Form { squared, absolute, maximum, power, mismatch, ratio, dot };

// Whether a coordinate takes dozens of instructions, for a power or a division, so that plans must count them.
constexpr bool is_long(Form form) {
  return form == Form::power || form == Form::ratio;
}

KITH_HOST_DEVICE inline MetricKind effective_kind(const Metric& metric) {
  if (metric.kind != MetricKind::minkowski) return metric.kind;
  if (metric.p == 1) return MetricKind::manhattan;
  if (metric.p == 2) return MetricKind::euclidean;
  if (std::isinf(metric.p)) return MetricKind::chebyshev;
  return MetricKind::minkowski;
}

// Whether a metric depends on the directions of vectors alone.
KITH_HOST_DEVICE inline bool has_directions(const Metric& metric) {
  return metric.kind == MetricKind::cosine || metric.kind == MetricKind::correlation;
}

KITH_HOST_DEVICE inline Form form_of(const Metric& metric) {
  switch (effective_kind(metric)) {
    case MetricKind::sqeuclidean:
    case MetricKind::euclidean: return Form::squared;
    case MetricKind::manhattan: return Form::absolute;
    case MetricKind::chebyshev: return Form::maximum;
    case MetricKind::minkowski: return Form::power;
    case MetricKind::hamming: return Form::mismatch;
    case MetricKind::canberra: return Form::ratio;
    case MetricKind::cosine:
    case MetricKind::correlation:
    case MetricKind::inner_product: return Form::dot;
  }
  return Form::squared;
}

// Whether no point of a box is nearer than the one that is nearest in every coordinate: the metric adds up, or
// maximizes, magnitudes of differences.
constexpr bool has_box_bounds(Form form) {
  return form == Form::squared || form == Form::absolute || form == Form::maximum || form == Form::power;
}
inline bool has_box_bounds(const Metric& metric) {
  return has_box_bounds(form_of(metric));
}

// Mean and squared norm of a vector. Correlation subtracts the mean; for other metrics it is 0.
struct RowFacts {
  double mean = 0;
  double square_norm = 0;  // of the vector minus its mean
};

// One coordinate of a strided row, in double.
template <class T>
double coordinate(const T* row, std::int64_t stride, std::int64_t c) {
  return static_cast<double>(row[c * stride]);
}

// Adds up term(c) in the fixed order.
template <class Term>
double striped_sum(std::int64_t dims, Term term) {
  double lane[kLanes] = {};
  std::int64_t c = 0;
  for (; c + kLanes <= dims; c += kLanes)
    for (int i = 0; i < kLanes; ++i) lane[i] += term(c + i);
  for (int i = 0; c + i < dims; ++i) lane[i] += term(c + i);
  return combine_lanes(lane);
}

template <class T>
RowFacts row_facts(MetricKind kind, const T* row, std::int64_t stride, std::int64_t dims) {
  double mean = 0;
  if (kind == MetricKind::correlation)
    mean = striped_sum(dims, [&](std::int64_t c) { return coordinate(row, stride, c); }) / static_cast<double>(dims);
  const double square_norm = striped_sum(dims, [&](std::int64_t c) {
    const double x = coordinate(row, stride, c) - mean;
    return x * x;
  });
  return {mean, square_norm};
}

// |x − y| / (|x| + |y|), 0 where both are zero: three roundings at any scale. Where a coordinate is above 1 both are
// halved, so that their sum cannot overflow; a half that underflows is too small beside the other to change a bit.
// Nothing else underflows: sums of subnormal numbers are exact, and quotients are zero or near one ulp of 1 at least.
template <class F>
KITH_HOST_DEVICE F ratio_term(F x, F y) {
  const F scale = std::max(std::abs(x), std::abs(y)) > 1 ? F{0.5} : F{1};
  const F sum = std::abs(x) * scale + std::abs(y) * scale;
  return sum == 0 ? F{0} : std::abs(x * scale - y * scale) / sum;
}

// The term of one coordinate in the raw sum.
KITH_HOST_DEVICE inline double term(Form form, double p, double x, double y) {
  switch (form) {
    case Form::squared: return (x - y) * (x - y);
    case Form::absolute:
    case Form::maximum: return std::abs(x - y);
    case Form::power: return std::pow(std::abs(x - y), p);
    case Form::mismatch: return x != y ? 1.0 : 0.0;
    case Form::ratio: return ratio_term(x, y);
    case Form::dot: return x * y;
  }
  return 0;
}

// The raw sum of x and y minus their means, which only correlation has.
template <class X, class Y>
double raw_sum(Form form, double p, const X* x, std::int64_t x_stride, double x_mean, const Y* y, std::int64_t y_stride,
               double y_mean, std::int64_t dims) {
  const auto term_at = [&](std::int64_t c) {
    return term(form, p, coordinate(x, x_stride, c) - x_mean, coordinate(y, y_stride, c) - y_mean);
  };
  if (form != Form::maximum) return striped_sum(dims, term_at);
  double largest = 0;
  for (std::int64_t c = 0; c < dims; ++c) largest = std::max(largest, term_at(c));
  return largest;
}

// The last step of a metric: the distance in double. Inner products are negated, so that smaller is always nearer.
KITH_HOST_DEVICE inline double finish(const Metric& metric, double raw, const RowFacts& x, const RowFacts& y,
                                      std::int64_t dims) {
  switch (effective_kind(metric)) {
    case MetricKind::sqeuclidean:
    case MetricKind::manhattan:
    case MetricKind::chebyshev:
    case MetricKind::canberra: return raw;
    case MetricKind::euclidean: return std::sqrt(raw);
    case MetricKind::minkowski: return std::pow(raw, 1 / metric.p);
    case MetricKind::hamming: return raw / static_cast<double>(dims);
    case MetricKind::inner_product: return -raw;
    case MetricKind::cosine:
    case MetricKind::correlation: {
      // √(n·n) is n exactly, so a vector is at distance 0 from itself; far from 1 the product could over- or underflow.
      const double product = x.square_norm * y.square_norm;
      const double norms = product > 1e-280 && product < 1e280 ? std::sqrt(product)
                                                               : std::sqrt(x.square_norm) * std::sqrt(y.square_norm);
      const double distance = 1.0 - raw / norms;
      return distance < 0.0 ? 0.0 : distance > 2.0 ? 2.0 : distance;
    }
  }
  return raw;
}

// The returned distance of a key: inner products change their sign back.
template <class D>
KITH_HOST_DEVICE D returned_value(const Metric& metric, D key) {
  return metric.kind == MetricKind::inner_product ? -key + D{0} : key;
}
// The key of a returned distance.
template <class D>
KITH_HOST_DEVICE D key_of(const Metric& metric, D distance) {
  return returned_value(metric, distance);
}

}  // namespace kith::core
