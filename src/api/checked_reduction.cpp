#include "api/checked_reduction.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "api/validate.hpp"
#include "core/key.hpp"
#include "core/periodic.hpp"

namespace kith::api {
namespace {

// Of the cube that is as large as the ball of radius 1. Throws Error(invalid_argument) where that is not known of the
// metric.
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

}  // namespace

template <Element D>
core::Reduction checked_reduction(std::int64_t rows, std::int64_t dims, std::int64_t k, const MatrixView<D>& values,
                                  ReduceOp op, const Options& options) {
  const Metric& metric = options.metric;
  if (std::isfinite(options.max_distance))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("max_distance = {}: a reduction is of k neighbors, none of which may be left out",
                            options.max_distance));
  if (op == ReduceOp::covariance && core::is_periodic(options.period))
    throw Error(ErrorCode::invalid_argument,
                "covariance is not supported with periodic axes: neighbors may lie on both sides of a wall");
  core::Reduction reduction{op, k, dims, 0, 0, metric.kind == MetricKind::sqeuclidean};
  if (core::has_values(op)) {
    api::check_view(values, "values");
    if (values.rows != rows)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} rows of values for {} base points; each point must have one", values.rows, rows));
    reduction.columns = values.cols;
  }
  if (op == ReduceOp::density) reduction.cube_side = cube_side(metric, dims);
  if (op == ReduceOp::weighted_mean && metric.kind == MetricKind::inner_product)
    throw Error(ErrorCode::invalid_argument, "inner products may be negative and are no weights of weighted-mean");
  return reduction;
}

template core::Reduction checked_reduction(std::int64_t, std::int64_t, std::int64_t, const MatrixView<float>&, ReduceOp,
                                           const Options&);
template core::Reduction checked_reduction(std::int64_t, std::int64_t, std::int64_t, const MatrixView<double>&,
                                           ReduceOp, const Options&);

}  // namespace kith::api
