// sparse_key.hpp: keys of sparse rows, with the bits that core/key.hpp gives of the same rows as dense ones: a column
// adds to the same lane in the same order, and a coordinate that is not stored would add a zero, which changes no sum.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/key.hpp"
#include "cpu/sparse/csr_rows.hpp"

namespace kith::cpu {

// Calls visit(column, x, y) for every column of either row, in order. Branches would be taken at random, so both rows
// are read at every step and one of them, or none, counts as 0.
template <class T, class Visit>
void visit_union(const CsrRow<T>& x, const CsrRow<T>& y, Visit visit) {
  std::int64_t i = 0;
  std::int64_t j = 0;
  while (i < x.count && j < y.count) {
    const std::int32_t a = x.columns[i];
    const std::int32_t b = y.columns[j];
    const bool is_x = a <= b;
    const bool is_y = b <= a;
    visit(is_x ? a : b, is_x ? static_cast<double>(x.values[i]) : 0.0, is_y ? static_cast<double>(y.values[j]) : 0.0);
    i += is_x ? 1 : 0;
    j += is_y ? 1 : 0;
  }
  for (; i < x.count; ++i) visit(x.columns[i], static_cast<double>(x.values[i]), 0.0);
  for (; j < y.count; ++j) visit(y.columns[j], 0.0, static_cast<double>(y.values[j]));
}

// The same for the columns of both.
template <class T, class Visit>
void visit_common(const CsrRow<T>& x, const CsrRow<T>& y, Visit visit) {
  std::int64_t i = 0;
  std::int64_t j = 0;
  while (i < x.count && j < y.count) {
    const std::int32_t a = x.columns[i];
    const std::int32_t b = y.columns[j];
    if (a == b) visit(a, static_cast<double>(x.values[i]), static_cast<double>(y.values[j]));
    i += a <= b ? 1 : 0;
    j += b <= a ? 1 : 0;
  }
}

// Of two sets with so many elements, and so many in common.
inline double jaccard_distance(double x, double y, double common) {
  const double all = x + y - common;
  return all > 0 ? (all - common) / all : 0.0;
}

// The key of two rows; sizes are those of CsrRows.
template <class T>
T sparse_key(SparseMetric metric, const CsrRow<T>& x, double x_size, const CsrRow<T>& y, double y_size,
             std::int64_t dims) {
  double lane[core::kLanes] = {};
  const auto add = [&](std::int32_t column, double term) { lane[column % core::kLanes] += term; };
  switch (metric) {
    case SparseMetric::jaccard: {
      double common = 0;
      visit_common(x, y, [&](std::int32_t, double a, double b) { common += a != 0 && b != 0 ? 1 : 0; });
      return static_cast<T>(jaccard_distance(x_size, y_size, common));
    }
    case SparseMetric::euclidean:
    case SparseMetric::sqeuclidean:
      visit_union(x, y, [&](std::int32_t column, double a, double b) { add(column, (a - b) * (a - b)); });
      break;
    case SparseMetric::manhattan:
      visit_union(x, y, [&](std::int32_t column, double a, double b) { add(column, std::abs(a - b)); });
      break;
    case SparseMetric::cosine:
    case SparseMetric::inner_product:
      visit_common(x, y, [&](std::int32_t column, double a, double b) { add(column, a * b); });
      break;
  }
  return static_cast<T>(core::finish(dense_metric(metric), core::combine_lanes(lane), {0, x_size}, {0, y_size}, dims));
}

}  // namespace kith::cpu
