#include "api/reduction.hpp"

#include <cmath>
#include <numbers>

#include "core/key.hpp"

namespace kith::api {

double cube_side(const Metric& metric, std::int64_t dims) {
  const auto d = static_cast<double>(dims);
  switch (core::effective_kind(metric)) {
    case MetricKind::euclidean:
    case MetricKind::sqeuclidean: return std::sqrt(std::numbers::pi) * std::exp(-std::lgamma(d / 2 + 1) / d);
    case MetricKind::manhattan: return 2 * std::exp(-std::lgamma(d + 1) / d);
    case MetricKind::chebyshev: return 2;
    default:
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("no volume is known of balls by {}; density has euclidean, sqeuclidean, manhattan, "
                              "chebyshev",
                              to_string(metric)));
  }
}

}  // namespace kith::api
