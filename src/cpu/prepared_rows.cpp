// prepared_rows.cpp: checks, norms and copies of rows, in chunks over threads.
#include "cpu/prepared_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/bounds.hpp"
#include "core/elements.hpp"
#include "core/instantiate.hpp"
#include "core/score_scale.hpp"
#include "cpu/parallel.hpp"
#include "kith/error.hpp"
#include "plan/cpu_threads.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kChunkRows = 4096;
constexpr std::int64_t kChunkValues = std::int64_t{1} << 22;

// Of a value of one thread.
constexpr double kCheckSeconds = 3e-10;
constexpr double kNormSeconds = 1e-9;

[[noreturn]] void refuse_value(const char* role, std::int64_t row, std::int64_t col, double value, double largest) {
  if (std::isfinite(value))
    throw Error(ErrorCode::bad_data, fmt::format("{} row {}, column {} is {}; squares of euclidean distances overflow "
                                                 "beyond {} (check_finite)",
                                                 role, row, col, value, largest));
  throw Error(ErrorCode::bad_data,
              fmt::format("{} row {}, column {} is {}; values must be finite (check_finite)", role, row, col, value));
}

template <class T>
void check_values(const MatrixView<T>& chunk, const Metric& metric, std::int64_t first_row, const char* role) {
  if constexpr (core::kIsFloating<T>) {
    const auto largest = static_cast<T>(core::largest_coordinate<T>(metric, chunk.cols));
    const auto refuse = [&](std::int64_t r, std::int64_t c) {
      refuse_value(role, first_row + r, c, static_cast<double>(chunk(r, c)), static_cast<double>(largest));
    };
    if (chunk.col_stride == 1 && chunk.row_stride == chunk.cols) {
      const std::int64_t at = find_beyond(chunk.data, chunk.rows * chunk.cols, largest);
      if (at >= 0) refuse(at / chunk.cols, at % chunk.cols);
      return;
    }
    for (std::int64_t r = 0; r < chunk.rows; ++r)
      for (std::int64_t c = 0; c < chunk.cols; ++c)
        if (!(std::abs(static_cast<DistanceOf<T>>(chunk(r, c))) <= largest)) refuse(r, c);
  }
}

template <class T>
bool is_constant(const T* row, std::int64_t stride, std::int64_t dims) {
  for (std::int64_t c = 1; c < dims; ++c)
    if (row[c * stride] != row[0]) return false;
  return true;
}

// Throws unless the row's squared length has full precision in double, without which it has no direction.
template <class T>
void check_direction(MetricKind kind, const T* row, const MatrixView<T>& view, const core::RowFacts& facts,
                     const char* role, std::int64_t index) {
  constexpr double kSmallest = 1e-307;  // per coordinate; smaller squares are subnormal and lose digits
  const bool constant = kind == MetricKind::correlation && is_constant(row, view.col_stride, view.cols);
  if (!constant && facts.square_norm >= kSmallest * static_cast<double>(view.cols) && !std::isinf(facts.square_norm))
    return;
  const std::string metric = to_string(Metric(kind));
  if (constant)
    throw Error(ErrorCode::bad_data,
                fmt::format("{} row {} is constant; {} needs a varying vector", role, index, metric));
  if (facts.square_norm == 0)
    throw Error(ErrorCode::bad_data,
                fmt::format("{} row {} has length zero; {} needs a direction", role, index, metric));
  throw Error(ErrorCode::bad_data, fmt::format("the squared length of {} row {} is {}, outside what double holds in "
                                               "full precision; {} cannot use it",
                                               role, index, facts.square_norm, metric));
}

// Facts of rows. Those of 16 bits are widened a row at a time: one value at a time takes several times as long.
template <class T>
class RowAsStored {
 public:
  explicit RowAsStored(const MatrixView<T>& view) : view_(view) {
    if (widens()) widened_.resize(static_cast<std::size_t>(view.cols));
  }
  core::RowFacts facts(MetricKind kind, std::int64_t row) {
    if constexpr (core::kIs16BitFloat<T>) {
      if (widens()) {
        widen(view_.row(row), view_.cols, widened_.data());
        return core::row_facts(kind, widened_.data(), 1, view_.cols);
      }
    }
    return core::row_facts(kind, view_.row(row), view_.col_stride, view_.cols);
  }

 private:
  bool widens() const { return core::kIs16BitFloat<T> && view_.col_stride == 1; }

  const MatrixView<T>& view_;
  std::vector<float> widened_;
};

// NaN is no magnitude.
template <class T>
double largest_magnitude(const MatrixView<T>& view) {
  double largest = 0;
  for (std::int64_t r = 0; r < view.rows; ++r)
    for (std::int64_t c = 0; c < view.cols; ++c)
      largest = std::max(largest, std::abs(core::coordinate(view.row(r), view.col_stride, c)));
  return largest;
}

}  // namespace

template <Element T>
double score_scale(const MatrixView<T>& view, const Metric& metric) {
  if (!core::kSquaresLeaveFloat<T> || !core::has_scaled_scores(metric)) return 1;
  std::vector<double> sample;
  const std::int64_t count = std::min(core::kScaleSample, view.rows);
  for (std::int64_t i = 0; i < count; ++i)
    sample.push_back(largest_magnitude(view.rows_from(i * view.rows / count, 1)));
  return core::score_scale_of(std::move(sample), [&] { return largest_magnitude(view); });
}

template <Element T>
PreparedRows<T> prepare_rows(MatrixView<T> view, const Metric& metric, const Preparation& preparation,
                             ProgressMeter& progress) {
  const double scale = preparation.scale > 0 ? preparation.scale : score_scale(view, metric);
  PreparedRows<T> prepared{view, metric, {}, {}, scale};
  const bool directions = core::has_directions(metric);
  const bool norms = preparation.norms || directions;
  if (norms) prepared.square_norms.resize(static_cast<std::size_t>(view.rows));
  if (metric.kind == MetricKind::correlation) prepared.means.resize(static_cast<std::size_t>(view.rows));
  if (!norms && !preparation.check_finite) return prepared;

  const std::int64_t chunk_rows = std::clamp(kChunkValues / view.cols, std::int64_t{1}, kChunkRows);
  const std::int64_t chunks = (view.rows + chunk_rows - 1) / chunk_rows;
  const double values = static_cast<double>(view.rows) * static_cast<double>(view.cols);
  const int threads = plan::threads_worth(values * (norms ? kNormSeconds : kCheckSeconds), preparation.threads);
  const auto prepare = [&](std::int64_t chunk, int worker) {
    const std::int64_t first = chunk * chunk_rows;
    const std::int64_t last = std::min(view.rows, first + chunk_rows);
    progress.check(worker);
    if (preparation.check_finite) check_values(view.rows_from(first, last - first), metric, first, preparation.role);
    if (!norms) return;
    RowAsStored<T> stored(view);
    for (std::int64_t r = first; r < last; ++r) {
      const core::RowFacts facts = stored.facts(metric.kind, r);
      if (directions) check_direction(metric.kind, view.row(r), view, facts, preparation.role, r);
      prepared.square_norms[static_cast<std::size_t>(r)] = facts.square_norm;
      if (!prepared.means.empty()) prepared.means[static_cast<std::size_t>(r)] = facts.mean;
    }
  };
  if (chunks > 1) {
    parallel_for(threads, chunks, prepare);
  } else {
    prepare(0, 0);  // there is nothing to share
  }
  return prepared;
}

template <Element T>
bool is_working_layout(const PreparedRows<T>& rows) {
  const std::int64_t stride = rows.view.row_stride;
  constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max();  // BLAS has 32-bit strides
  return std::is_same_v<T, DistanceOf<T>> && is_stored_layout(rows) && stride >= rows.view.cols && stride <= kLongest;
}

template <Element T>
Rows<DistanceOf<T>> working_rows(const PreparedRows<T>& rows, std::int64_t first, std::int64_t count,
                                 DistanceOf<T>* scratch) {
  using F = DistanceOf<T>;
  const MatrixView<T>& view = rows.view;
  if constexpr (std::is_same_v<T, F>) {
    if (is_working_layout(rows)) return {view.row(first), count, view.row_stride};
  }
  const bool directions = core::has_directions(rows.metric);
  for (std::int64_t r = 0; r < count; ++r) {
    const T* from = view.row(first + r);
    F* to = scratch + r * view.cols;
    if (directions) {
      const core::RowFacts facts = rows.facts(first + r);
      const double scale = 1 / std::sqrt(facts.square_norm);
      const double mean = facts.mean;
      for (std::int64_t c = 0; c < view.cols; ++c)
        to[c] = static_cast<F>((core::coordinate(from, view.col_stride, c) - mean) * scale);
    } else if (rows.scale != 1) {
      for (std::int64_t c = 0; c < view.cols; ++c)
        to[c] = static_cast<F>(core::coordinate(from, view.col_stride, c) * rows.scale);
    } else if (view.col_stride == 1) {
      if constexpr (std::is_same_v<T, F>) {
        std::copy_n(from, view.cols, to);
      } else {
        widen(from, view.cols, to);
      }
    } else {
      for (std::int64_t c = 0; c < view.cols; ++c) to[c] = static_cast<F>(from[c * view.col_stride]);
    }
  }
  return {scratch, count, view.cols};
}

template <Element T>
void exact_query(const PreparedRows<T>& rows, std::int64_t row, double* out) {
  const double mean = rows.facts(row).mean;
  const T* from = rows.view.row(row);
  for (std::int64_t c = 0; c < rows.view.cols; ++c) out[c] = core::coordinate(from, rows.view.col_stride, c) - mean;
}

#define KITH_INSTANTIATE(T)                                                                                      \
  template double score_scale(const MatrixView<T>&, const Metric&);                                              \
  template PreparedRows<T> prepare_rows(MatrixView<T>, const Metric&, const Preparation&, ProgressMeter&);       \
  template bool is_working_layout(const PreparedRows<T>&);                                                       \
  template Rows<DistanceOf<T>> working_rows(const PreparedRows<T>&, std::int64_t, std::int64_t, DistanceOf<T>*); \
  template void exact_query(const PreparedRows<T>&, std::int64_t, double*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
