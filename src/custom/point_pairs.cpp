#include "custom/point_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/aligned.hpp"
#include "core/elements.hpp"
#include "core/instantiate.hpp"
#include "custom/tile_distances.hpp"
#include "kith/error.hpp"

namespace kith::custom {
namespace {

template <Element T>
void check_row(const PairMetric& metric, const MatrixView<T>& points, std::int64_t row, const char* role) {
  if constexpr (core::kIsFloating<T>) {
    for (std::int64_t c = 0; c < points.cols; ++c) {
      const auto value = static_cast<DistanceOf<T>>(points(row, c));
      if (std::isfinite(value) || (metric.takes_nan() && std::isnan(value))) continue;
      throw Error(ErrorCode::bad_data,
                  fmt::format("{} row {}, column {} is {}; values must be finite", role, row, c, value));
    }
  }
}

}  // namespace

template <Element T>
PreparedPoints<T> prepare_points(const PairMetric& metric, const MatrixView<T>& points, const char* role) {
  PreparedPoints<T> made{points.rows, points.cols, {}, {}};
  const bool takes_elements = metric.input() == PairMetric::Input::elements;
  const auto size = static_cast<std::size_t>(points.rows * points.cols);
  if (takes_elements) {
    made.elements.reserve(size);
  } else {
    made.values.resize(size);
  }
  for (std::int64_t r = 0; r < points.rows; ++r) {
    check_row(metric, points, r, role);
    if (!takes_elements) {
      read_row(metric, points, r, role, made.values.data() + r * points.cols);
      continue;
    }
    for (std::int64_t c = 0; c < points.cols; ++c) made.elements.push_back(points(r, c));
  }
  return made;
}

// All queries and rows of the tile are this pair.
template <Element T>
double PointPairs<T>::by_panel(const double* query, const double* row) const {
  thread_local core::AlignedVector<double> memory;
  const std::int64_t dims = base_.dims;
  memory.resize(static_cast<std::size_t>((kTileQueries + kPanelRows) * dims + kTileQueries * kPanelRows));
  double* queries = memory.data();
  double* panel = queries + kTileQueries * dims;
  for (std::int64_t q = 0; q < kTileQueries; ++q) std::copy_n(query, dims, queries + q * dims);
  for (std::int64_t c = 0; c < dims; ++c) std::fill_n(panel + c * kPanelRows, kPanelRows, row[c]);
  PanelTile tile;
  tile.queries = queries;
  tile.query_count = kTileQueries;
  tile.panels = panel;
  tile.panel_count = 1;
  tile.dims = dims;
  tile.out = panel + kPanelRows * dims;
  tile.out_stride = kPanelRows;
  metric_.fill(tile);
  return tile.out[0];
}

template <Element T>
double PointPairs<T>::distance(std::int64_t query, std::int64_t object, double /*bound*/) const {
  double found = 0;
  if (metric_.input() == PairMetric::Input::panels) {
    found = by_panel(static_cast<const double*>(queries_.row(query)), static_cast<const double*>(base_.row(object)));
  } else {
    RowTile tile;
    tile.queries = queries_.row(query);
    tile.rows = base_.row(object);
    tile.query_count = tile.row_count = 1;
    tile.query_stride = tile.row_stride = tile.dims = base_.dims;
    tile.out = &found;
    tile.out_stride = 1;
    metric_.fill(tile);
  }
  return static_cast<double>(static_cast<DistanceOf<T>>(found));
}

template <Element T>
void PointPairs<T>::lower_bounds(std::int64_t /*query*/, std::int64_t /*first*/, std::int64_t count,
                                 double* out) const {
  std::fill_n(out, count, -std::numeric_limits<double>::infinity());
}

#define KITH_INSTANTIATE(T)                                                                        \
  template PreparedPoints<T> prepare_points(const PairMetric&, const MatrixView<T>&, const char*); \
  template class PointPairs<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::custom
