// reference.hpp: the oracle of all tests: simple, in double, slow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/key.hpp"
#include "core/order.hpp"
#include "kith/matrix.hpp"
#include "kith/metric.hpp"

namespace kith::cpu {

template <Element T>
DistanceOf<T> reference_key(const Metric& metric, const MatrixView<T>& base, std::int64_t b,
                            const MatrixView<T>& queries, std::int64_t q) {
  const MetricKind kind = core::effective_kind(metric);
  const core::RowFacts x = core::row_facts(kind, queries.row(q), queries.col_stride, queries.cols);
  const core::RowFacts y = core::row_facts(kind, base.row(b), base.col_stride, base.cols);
  const double raw = core::raw_sum(core::form_of(metric), metric.p, queries.row(q), queries.col_stride, x.mean,
                                   base.row(b), base.col_stride, y.mean, base.cols);
  return static_cast<DistanceOf<T>>(core::finish(metric, raw, x, y, base.cols));
}

// The k nearest points of one query, by computing and sorting all keys.
template <Element T>
std::vector<core::Hit<DistanceOf<T>>> reference_search(const Metric& metric, const MatrixView<T>& base,
                                                       const MatrixView<T>& queries, std::int64_t q, std::int64_t k) {
  std::vector<core::Hit<DistanceOf<T>>> hits;
  for (std::int64_t b = 0; b < base.rows; ++b) hits.push_back({reference_key(metric, base, b, queries, q), b});
  std::sort(hits.begin(), hits.end());
  hits.resize(static_cast<std::size_t>(k));
  return hits;
}

}  // namespace kith::cpu
