// tile_distances.cpp: conversion of rows, and the calls of the metric.
#include "custom/tile_distances.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "core/elements.hpp"
#include "core/instantiate.hpp"

namespace kith::custom {
namespace {

template <class T>
double as_double(T value) {
  if constexpr (core::kIs16BitFloat<T>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

// Rows [first, first + count), one after the other.
template <class T>
void copy_elements(const MatrixView<T>& points, std::int64_t first, std::int64_t count, std::vector<T>& out) {
  out.resize(static_cast<std::size_t>(count * points.cols));
  T* to = out.data();
  for (std::int64_t r = 0; r < count; ++r)
    for (std::int64_t c = 0; c < points.cols; ++c) *to++ = points(first + r, c);
}

// Eight coordinates at a time, so that what is written stays in the nearest cache.
void transpose_panel(const double* rows, std::int64_t dims, double* panel) {
  constexpr std::int64_t kBlock = 8;
  std::int64_t c = 0;
  for (; c + kBlock <= dims; c += kBlock)
    for (std::int64_t r = 0; r < kPanelRows; ++r)
      for (std::int64_t i = 0; i < kBlock; ++i) panel[(c + i) * kPanelRows + r] = rows[r * dims + c + i];
  for (; c < dims; ++c)
    for (std::int64_t r = 0; r < kPanelRows; ++r) panel[c * kPanelRows + r] = rows[r * dims + c];
}

}  // namespace

template <Element T>
void read_row(const PairMetric& metric, const MatrixView<T>& points, std::int64_t row, const char* role, double* out) {
  const T* from = points.row(row);
  if (points.col_stride == 1) {
    for (std::int64_t c = 0; c < points.cols; ++c) out[c] = as_double(from[c]);
  } else {
    for (std::int64_t c = 0; c < points.cols; ++c) out[c] = as_double(from[c * points.col_stride]);
  }
  metric.prepare(out, points.cols, role, row);
}

template <Element T>
void pack_panels(const PairMetric& metric, const MatrixView<T>& base, std::int64_t first, std::int64_t count,
                 double* scratch, double* panels) {
  const std::int64_t dims = base.cols;
  for (std::int64_t at = 0; at < count; at += kPanelRows) {
    const std::int64_t rows = std::min(kPanelRows, count - at);
    for (std::int64_t r = 0; r < rows; ++r) read_row(metric, base, first + at + r, "base", scratch + r * dims);
    for (std::int64_t r = rows; r < kPanelRows; ++r) std::copy_n(scratch + (rows - 1) * dims, dims, scratch + r * dims);
    transpose_panel(scratch, dims, panels + at * dims);
  }
}

template <Element T>
void TileDistances<T>::set_queries(const MatrixView<T>& queries, std::int64_t first, std::int64_t count,
                                   const char* role) {
  query_count_ = count;
  if (metric_.input() == PairMetric::Input::elements) {
    queries_ = queries.rows_from(first, count);
    if (queries.col_stride == 1) return;
    copy_elements(queries, first, count, query_elements_);
    queries_ = {query_elements_.data(), count, queries.cols};
    return;
  }
  const std::int64_t padded = metric_.input() == PairMetric::Input::panels ? padded_queries(count) : count;
  const std::int64_t dims = queries.cols;
  prepared_.resize(static_cast<std::size_t>(padded * dims));
  for (std::int64_t q = 0; q < count; ++q) read_row(metric_, queries, first + q, role, prepared_.data() + q * dims);
  for (std::int64_t q = count; q < padded; ++q)
    std::copy_n(prepared_.data() + (count - 1) * dims, dims, prepared_.data() + q * dims);
}

template <Element T>
const double* TileDistances<T>::panels(std::int64_t first, std::int64_t count) {
  if (kept_ != nullptr) return kept_ + first * base_.cols;
  rows_.resize(static_cast<std::size_t>(padded_rows(count) * base_.cols));
  scratch_.resize(static_cast<std::size_t>(kPanelRows * base_.cols));
  pack_panels(metric_, base_, first, count, scratch_.data(), rows_.data());
  return rows_.data();
}

template <Element T>
void TileDistances<T>::fill_rows(std::int64_t first, std::int64_t count) {
  const std::int64_t dims = base_.cols;
  RowTile tile;
  tile.query_count = query_count_;
  tile.row_count = count;
  tile.dims = dims;
  tile.out = out_.data();
  tile.out_stride = stride_;
  tile.row_stride = dims;
  if (metric_.input() == PairMetric::Input::elements) {
    tile.queries = queries_.data;
    tile.query_stride = queries_.row_stride;
    if (base_.col_stride == 1) {
      tile.rows = base_.row(first);
      tile.row_stride = base_.row_stride;
    } else {
      copy_elements(base_, first, count, row_elements_);
      tile.rows = row_elements_.data();
    }
  } else {
    tile.queries = prepared_.data();
    tile.query_stride = dims;
    rows_.resize(static_cast<std::size_t>(count * dims));
    for (std::int64_t r = 0; r < count; ++r) read_row(metric_, base_, first + r, "base", rows_.data() + r * dims);
    tile.rows = rows_.data();
  }
  metric_.fill(tile);
}

template <Element T>
const double* TileDistances<T>::distances(std::int64_t first, std::int64_t count) {
  stride_ = padded_rows(count);
  out_.resize(static_cast<std::size_t>(padded_queries(query_count_) * stride_));
  if (metric_.input() == PairMetric::Input::panels) {
    PanelTile tile;
    tile.queries = prepared_.data();
    tile.query_count = padded_queries(query_count_);
    tile.panels = panels(first, count);
    tile.panel_count = stride_ / kPanelRows;
    tile.dims = base_.cols;
    tile.out = out_.data();
    tile.out_stride = stride_;
    metric_.fill(tile);
  } else {
    fill_rows(first, count);
  }
  return out_.data();
}

#define KITH_INSTANTIATE(T)                                                                                         \
  template void read_row(const PairMetric&, const MatrixView<T>&, std::int64_t, const char*, double*);              \
  template void pack_panels(const PairMetric&, const MatrixView<T>&, std::int64_t, std::int64_t, double*, double*); \
  template class TileDistances<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::custom
