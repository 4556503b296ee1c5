// Metrics of SciPy and scikit-learn beyond those of kith/metric.hpp, by name, and metrics by a formula. Values agree
// with SciPy's, computed in double by the definition. docs/metrics.md has the definitions and the grammar, and says of
// which metrics few distances need to be computed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"
#include "kith/pair_metric.hpp"

namespace kith {

// What cosine makes of a vector of length 0: an error, or that distance from everything.
enum class ZeroVectors { error, zero, one };

KITH_API const char* to_string(ZeroVectors policy) noexcept;
KITH_API ZeroVectors parse_zero_vectors(std::string_view name);

// What some of the metrics take; what one does not take must be left out.
struct MetricParameters {
  std::optional<double> p;                  // minkowski: 1 or more, infinity allowed; 2 if it is left out
  std::vector<double> weights;              // minkowski: one for each dimension, 0 or more
  std::vector<double> variances;            // seuclidean: one for each dimension, above 0
  std::vector<double> inverse;              // mahalanobis: the inverse of the covariances, dims × dims, row-major
  std::optional<ZeroVectors> zero_vectors;  // cosine
};

// braycurtis, cosine, dice, haversine, jaccard, jensenshannon, mahalanobis, minkowski (weighted), nan_euclidean,
// russellrao, seuclidean. Case does not matter, nor '-' or '_'. Error(invalid_argument) lists the names.
KITH_API std::shared_ptr<const PairMetric> named_metric(std::string_view name, MetricParameters parameters = {});

// Their canonical names.
KITH_API std::vector<std::string> named_metric_names();

struct ExpressionOptions {
  // Whether formulas that are a metric of kith/metric.hpp, such as sum(abs(x - y)), are searched as that one.
  bool recognize = true;
  // Whether sums of common terms have a loop of their own instead of being interpreted.
  bool fuse = true;
};

// A distance by a formula of x, a coordinate of the query, and y, that of the base point:
// "sum(abs(x - y) / (1 + abs(x)))", "1 - sum(min(x, y)) / sum(max(x, y))". Errors name the position.
KITH_API std::shared_ptr<const PairMetric> expression_metric(std::string_view text, ExpressionOptions options = {});

}  // namespace kith
