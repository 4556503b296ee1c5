// Metrics, by the names scipy and scikit-learn use.
//
// | name          | aliases                 | returned                                   | zero or constant vector |
// |---------------|-------------------------|--------------------------------------------|------------------------------|
// | sqeuclidean   | l2_squared              | Σ(x−y)²                                    | as any other | | euclidean
// | l2                      | √Σ(x−y)²                                   | as any other                 | | manhattan
// | l1, cityblock           | Σ|x−y|                                     | as any other                 | | chebyshev
// | linf                    | max|x−y|                                   | as any other                 | | minkowski
// |                         | (Σ|x−y|^p)^(1/p), p ≥ 1, p = inf allowed   | as any other                 | | cosine | |
// 1 − ⟨x,y⟩ / (‖x‖‖y‖), within [0, 2]        | a zero vector is an error    | | correlation   | pearson | cosine of x −
// mean(x) and y − mean(y)      | a constant vector is an error| | inner_product | ip, dot                 | ⟨x,y⟩ as it
// is; the largest come first     | as any other                 | | hamming       |                         | share of
// coordinates that differ; −0 = +0  | as any other                 |
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"

namespace kith {

enum class MetricKind {
  sqeuclidean,
  euclidean,
  manhattan,
  chebyshev,
  minkowski,
  cosine,
  correlation,
  inner_product,
  hamming,
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

// A name or alias, any case, '-' and '_' alike; "minkowski(3)" sets p. Throws Error(invalid_argument) listing the
// names.
KITH_API Metric parse_metric(std::string_view name);

// The canonical names, in the order of the table above.
KITH_API std::vector<std::string> metric_names();

}  // namespace kith
