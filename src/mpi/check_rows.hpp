// check_rows.hpp: the checks of points that every search makes, made where the points are, with the numbers that rows
// have among those of all ranks. On one thread: of a base only when its index has found that something is wrong.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "core/bounds.hpp"
#include "core/elements.hpp"
#include "core/key.hpp"
#include "kith/error.hpp"
#include "kith/options.hpp"

namespace kith::mpi {

template <Element T>
void check_values(MatrixView<T> rows, const Metric& metric, std::int64_t first_row, const char* role) {
  if constexpr (core::kIsFloating<T>) {
    const auto largest = static_cast<double>(static_cast<T>(core::largest_coordinate<T>(metric, rows.cols)));
    for (std::int64_t r = 0; r < rows.rows; ++r)
      for (std::int64_t c = 0; c < rows.cols; ++c) {
        const auto value = static_cast<double>(static_cast<DistanceOf<T>>(rows(r, c)));
        if (std::abs(value) <= largest) continue;
        if (std::isfinite(value))
          throw Error(ErrorCode::bad_data, fmt::format("{} row {}, column {} is {}; squares of euclidean distances "
                                                       "overflow beyond {} (check_finite)",
                                                       role, first_row + r, c, value, largest));
        throw Error(ErrorCode::bad_data, fmt::format("{} row {}, column {} is {}; values must be finite (check_finite)",
                                                     role, first_row + r, c, value));
      }
  }
}

// Under cosine and correlation.
template <Element T>
void check_directions(MatrixView<T> rows, const Metric& metric, std::int64_t first_row, const char* role) {
  constexpr double kSmallest = 1e-307;  // per coordinate; smaller squares are subnormal and lose digits
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const core::RowFacts facts = core::row_facts(metric.kind, rows.row(r), rows.col_stride, rows.cols);
    bool constant = metric.kind == MetricKind::correlation;
    for (std::int64_t c = 1; constant && c < rows.cols; ++c) constant = rows(r, c) == rows(r, 0);
    if (constant)
      throw Error(ErrorCode::bad_data, fmt::format("{} row {} is constant; {} needs a varying vector", role,
                                                   first_row + r, to_string(metric)));
    if (facts.square_norm == 0)
      throw Error(ErrorCode::bad_data, fmt::format("{} row {} has length zero; {} needs a direction", role,
                                                   first_row + r, to_string(metric)));
    if (facts.square_norm < kSmallest * static_cast<double>(rows.cols) || std::isinf(facts.square_norm))
      throw Error(ErrorCode::bad_data, fmt::format("the squared length of {} row {} is {}, outside what double holds "
                                                   "in full precision; {} cannot use it",
                                                   role, first_row + r, facts.square_norm, to_string(metric)));
  }
}

// That this rank can read the rows.
template <Element T>
void check_memory(MatrixView<T> rows, const char* role) {
  if (rows.rows == 0) return;
  if (rows.data == nullptr)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} has no data (null pointer)", role));
  if (rows.memory == Memory::device)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} on a device; rows of a rank must be in host memory", role));
}

template <Element T>
void check_rows(MatrixView<T> rows, const Options& options, std::int64_t first_row, const char* role) {
  if (options.check_finite) check_values(rows, options.metric, first_row, role);
  if (core::has_directions(options.metric)) check_directions(rows, options.metric, first_row, role);
}

}  // namespace kith::mpi
