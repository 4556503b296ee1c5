#include "api/reduction.hpp"

#include <cmath>
#include <numbers>

#include "core/key.hpp"

namespace kith::api {

// Of the ball of radius 1.
double ball_volume(const Metric& metric, std::int64_t dims) {
  const auto d = static_cast<double>(dims);
  switch (core::effective_kind(metric)) {
    case MetricKind::euclidean:
    case MetricKind::sqeuclidean: return std::pow(std::numbers::pi, d / 2) / std::tgamma(d / 2 + 1);
    case MetricKind::manhattan: return std::pow(2, d) / std::tgamma(d + 1);
    case MetricKind::chebyshev: return std::pow(2, d);
    default:
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("no volume is known of balls by {}; density has euclidean, sqeuclidean, manhattan, "
                              "chebyshev",
                              to_string(metric)));
  }
}

}  // namespace kith::api
