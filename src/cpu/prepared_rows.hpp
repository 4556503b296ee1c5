// prepared_rows.hpp: a checked set of points with the norms and means that its metric needs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/key.hpp"
#include "core/mapped_array.hpp"
#include "cpu/progress.hpp"
#include "cpu/simd/kernels.hpp"
#include "kith/matrix.hpp"
#include "kith/metric.hpp"

namespace kith::cpu {

struct Preparation {
  const char* role = "base";  // the set's name in messages
  bool check_finite = true;
  bool norms = true;  // always computed for cosine and correlation
  int threads = 1;    // at most
  double scale = 0;   // PreparedRows::scale; 0: score_scale() of these rows
};

template <Element T>
struct PreparedRows {
  using F = DistanceOf<T>;  // the precision of fast paths

  MatrixView<T> view;
  Metric metric;
  core::MappedArray<double> square_norms;  // of rows minus their means; empty if not requested
  core::MappedArray<double> means;         // correlation only
  double scale = 1;                        // a power of two that working_rows() multiplies by; keys are not scaled

  core::RowFacts facts(std::int64_t row) const {
    const auto i = static_cast<std::size_t>(row);
    return {means.empty() ? 0.0 : means[i], square_norms.empty() ? 0.0 : square_norms[i]};
  }
  // Rows first … first + count − 1.
  PreparedRows rows_from(std::int64_t first, std::int64_t count) const {
    const auto part = [&](const core::MappedArray<double>& all) {
      return all.empty() ? all : std::vector<double>(all.begin() + first, all.begin() + first + count);
    };
    return {view.rows_from(first, count), metric, part(square_norms), part(means), scale};
  }
  ExactBase<T> exact_base() const {
    return {view.data, view.row_stride, view.col_stride, view.cols, means.empty() ? nullptr : means.data()};
  }
};

// The scale at which squares of float coordinates neither overflow nor underflow: 1 unless most rows of a sample are
// very small or large. The rows themselves then stay far from the limits of float.
template <Element T>
double score_scale(const MatrixView<T>& view, const Metric& metric);

// Throws Error(bad_data) with the row and column of a value that the metric does not allow.
template <Element T>
PreparedRows<T> prepare_rows(MatrixView<T> view, const Metric& metric, const Preparation& preparation,
                             ProgressMeter& progress);

// Whether the coordinates of a row lie side by side and are those of working_rows(), if of another type.
template <Element T>
bool is_stored_layout(const PreparedRows<T>& rows) {
  return rows.view.col_stride == 1 && !core::has_directions(rows.metric) && rows.scale == 1;
}

// Whether working_rows() can return the rows without a copy.
template <Element T>
bool is_working_layout(const PreparedRows<T>& rows);

// Rows [first, first + count) in working precision, contiguous and scaled; of unit length for cosine and correlation.
// Copied to scratch (count × dims) unless is_working_layout().
template <Element T>
Rows<DistanceOf<T>> working_rows(const PreparedRows<T>& rows, std::int64_t first, std::int64_t count,
                                 DistanceOf<T>* scratch);

// Writes the squared norms of scaled rows in working precision.
template <Element T>
void scaled_norms(const PreparedRows<T>& rows, std::int64_t first, std::int64_t count, DistanceOf<T>* out) {
  const double scale = rows.scale * rows.scale;
  for (std::int64_t r = 0; r < count; ++r)
    out[r] = static_cast<DistanceOf<T>>(rows.square_norms[static_cast<std::size_t>(first + r)] * scale);
}

// Writes one row in double minus its mean, as exact_sums() needs it.
template <Element T>
void exact_query(const PreparedRows<T>& rows, std::int64_t row, double* out);

}  // namespace kith::cpu
