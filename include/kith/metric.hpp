// Metrics, by the names scipy and scikit-learn use. docs/metrics.md has their aliases and limits, what they cost, and
// which methods take them. A zero vector is an error under cosine, a constant one under correlation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"

namespace kith {

// With what is returned.
enum class MetricKind {
  sqeuclidean,    // Σ(x−y)²
  euclidean,      // √Σ(x−y)²
  manhattan,      // Σ|x−y|
  chebyshev,      // max|x−y|
  minkowski,      // (Σ|x−y|^p)^(1/p), p ≥ 1, infinity allowed
  cosine,         // 1 − ⟨x,y⟩ / (‖x‖‖y‖), within [0, 2]
  correlation,    // the cosine distance of x − mean(x) and y − mean(y)
  inner_product,  // ⟨x,y⟩ as it is; the largest come first
  hamming,        // the share of coordinates that differ, whole elements and not bits; −0 equals +0
  canberra,       // Σ|x−y| / (|x|+|y|), where 0/0 counts 0
};

struct Metric {
  MetricKind kind = MetricKind::euclidean;
  double p = 2;  // minkowski only

  constexpr Metric() = default;
  constexpr Metric(MetricKind kind_) : kind(kind_) {}  // NOLINT: a kind is a metric
  static constexpr Metric minkowski(double p) {
    Metric metric(MetricKind::minkowski);
    metric.p = p;
    return metric;
  }
  friend constexpr bool operator==(const Metric& a, const Metric& b) {
    return a.kind == b.kind && (a.kind != MetricKind::minkowski || a.p == b.p);
  }
};

// The canonical name; "minkowski(3)" for minkowski with p = 3.
KITH_API std::string to_string(const Metric& metric);

// A name or alias ("l2", "cityblock", …), any case, '-' and '_' alike; "minkowski(3)" sets p. Throws
// Error(invalid_argument) listing the names.
KITH_API Metric parse_metric(std::string_view name);

// The canonical names, in the order of MetricKind.
KITH_API std::vector<std::string> metric_names();

}  // namespace kith
