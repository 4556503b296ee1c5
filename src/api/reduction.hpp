// reduction.hpp: from what is asked of neighbors to what backends are told.
#pragma once

#include <algorithm>
#include <cstdint>

#include "api/validate.hpp"
#include "backend/contract.hpp"
#include "core/reduction.hpp"
#include "kith/metric.hpp"

namespace kith::api {

// Queries whose neighbors are in memory at a time, and the options of their search: on a device their budget is less by
// that. All of them where they are reduced in the search itself.
struct ReduceBatch {
  std::int64_t queries;
  Options options;
};

template <class D>
ReduceBatch reduce_batch(const Options& options, std::int64_t rows, std::int64_t k) {
  constexpr std::int64_t kBatchNeighbors = std::int64_t{1} << 22;
  if (backend::reduces_in_search(options)) return {rows, options};
  ReduceBatch batch{std::clamp<std::int64_t>(kBatchNeighbors / k, 1, rows), options};
  if (options.memory_budget == 0 || options.backend == Backend::cpu) return batch;
  const std::int64_t list_bytes = k * static_cast<std::int64_t>(sizeof(D) + sizeof(std::int64_t));
  batch.queries = std::clamp<std::int64_t>(options.memory_budget / 4 / list_bytes, 1, batch.queries);
  batch.options.memory_budget = std::max<std::int64_t>(1, options.memory_budget - batch.queries * list_bytes);
  return batch;
}

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
