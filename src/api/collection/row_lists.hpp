// row_lists.hpp: rows of a matrix by their numbers, and lists of neighbors that come from several places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/key.hpp"
#include "core/max_distance.hpp"
#include "core/order.hpp"
#include "kith/matrix.hpp"
#include "kith/metric.hpp"

namespace kith::api {

template <Element T>
void copy_row(const MatrixView<T>& from, std::int64_t row, T* to) {
  const T* const at = from.row(row);
  if (from.col_stride == 1) {
    std::copy_n(at, from.cols, to);
  } else {
    for (std::int64_t c = 0; c < from.cols; ++c) to[c] = at[c * from.col_stride];
  }
}

template <Element T>
Matrix<T> copy_rows(const MatrixView<T>& from, std::span<const std::int64_t> rows) {
  Matrix<T> copy(static_cast<std::int64_t>(rows.size()), from.cols);
  for (std::size_t i = 0; i < rows.size(); ++i) copy_row(from, rows[i], copy.row(static_cast<std::int64_t>(i)));
  return copy;
}

// Writes the k best hits, sorted, and what stands in the places of those that are missing.
template <class D>
void write_best(const Metric& metric, std::vector<core::Hit<D>>& hits, std::int64_t k, std::int64_t* ids,
                D* distances) {
  const auto count = std::min(static_cast<std::int64_t>(hits.size()), k);
  // Lists of one segment are in order already.
  if (!std::is_sorted(hits.begin(), hits.end())) std::partial_sort(hits.begin(), hits.begin() + count, hits.end());
  for (std::int64_t i = 0; i < count; ++i) {
    ids[i] = hits[static_cast<std::size_t>(i)].id;
    distances[i] = core::returned_value(metric, hits[static_cast<std::size_t>(i)].key);
  }
  std::fill(ids + count, ids + k, core::kNoNeighbor);
  std::fill(distances + count, distances + k, core::missing_distance<D>(metric));
}

}  // namespace kith::api
