// prepared_rows.hpp: a set of points made ready for searching: checked once, with what the metric needs of each row.
#pragma once

#include <cstdint>
#include <vector>

#include "core/key.hpp"
#include "cpu/simd/kernels.hpp"
#include "kith/matrix.hpp"
#include "kith/metric.hpp"

namespace kith::cpu {

struct Preparation {
  const char* role = "base";  // how messages call the set
  bool check_finite = true;
  bool norms = true;  // cosine and correlation get theirs in any case
  int threads = 1;
};

template <Element T>
struct PreparedRows {
  using F = DistanceOf<T>;  // the precision fast paths work in

  MatrixView<T> view;
  Metric metric;
  std::vector<double> square_norms;  // of rows less their means; empty when nobody asked
  std::vector<double> means;         // correlation only

  core::RowFacts facts(std::int64_t row) const {
    const auto i = static_cast<std::size_t>(row);
    return {means.empty() ? 0.0 : means[i], square_norms.empty() ? 0.0 : square_norms[i]};
  }
  // Rows first … first + count − 1.
  PreparedRows rows_from(std::int64_t first, std::int64_t count) const {
    const auto part = [&](const std::vector<double>& all) {
      return all.empty() ? all : std::vector<double>(all.begin() + first, all.begin() + first + count);
    };
    return {view.rows_from(first, count), metric, part(square_norms), part(means)};
  }
  ExactBase<T> exact_base() const {
    return {view.data, view.row_stride, view.col_stride, view.cols, means.empty() ? nullptr : means.data()};
  }
};

// Throws Error(bad_data) naming row and column of what the metric cannot take.
template <Element T>
PreparedRows<T> prepare_rows(MatrixView<T> view, const Metric& metric, const Preparation& preparation);

// Whether working_rows() can hand out the rows where they lie.
template <Element T>
bool lies_ready(const PreparedRows<T>& rows);

// Rows [first, first + count) in working precision, contiguous; of unit length under cosine and correlation.
// In place when they lie so, else written to scratch (count × dims).
template <Element T>
Rows<DistanceOf<T>> working_rows(const PreparedRows<T>& rows, std::int64_t first, std::int64_t count,
                                 DistanceOf<T>* scratch);

// One row in double, less its mean, as exact_sums() takes it.
template <Element T>
void exact_query(const PreparedRows<T>& rows, std::int64_t row, double* out);

}  // namespace kith::cpu
