// reduction.hpp: from what is asked of neighbors to what backends are told.
#pragma once

#include <cstdint>

#include "api/validate.hpp"
#include "core/reduction.hpp"
#include "kith/metric.hpp"

namespace kith::api {

// Neighbors that are in memory at a time where they cannot be reduced in the search itself.
inline constexpr std::int64_t kBatchNeighbors = std::int64_t{1} << 22;

// Of the cube that is as large as the ball of radius 1. Throws Error(invalid_argument) where that is not known of the
// metric.
double cube_side(const Metric& metric, std::int64_t dims);

// Of k neighbors of a base. `values` is looked at where the operation has some; Error(invalid_argument) where they, or
// the metric, do not go with it.
template <class T, class D>
core::Reduction make_reduction(const MatrixView<T>& base, std::int64_t k, const MatrixView<D>& values, ReduceOp op,
                               const Metric& metric) {
  core::Reduction reduction{op, k, base.cols, 0, 0, metric.kind == MetricKind::sqeuclidean};
  if (core::has_values(op)) {
    check_view(values, "values");
    if (values.rows != base.rows)
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("{} rows of values for {} base points; each point must have one", values.rows, base.rows));
    reduction.columns = values.cols;
  }
  if (op == ReduceOp::density) reduction.cube_side = cube_side(metric, base.cols);
  if (op == ReduceOp::weighted_mean && metric.kind == MetricKind::inner_product)
    throw Error(ErrorCode::invalid_argument, "inner products may be negative and are no weights of weighted-mean");
  return reduction;
}

}  // namespace kith::api
