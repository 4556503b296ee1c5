// tile_distances.hpp: distances of some queries and a tile of base rows by a PairMetric, in a thread's own memory.
// Rows become what the metric is given: panels of doubles, rows of doubles, or rows of the caller's elements.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "kith/pair_metric.hpp"

namespace kith::custom {

inline std::int64_t padded_queries(std::int64_t count) {
  return (count + kTileQueries - 1) / kTileQueries * kTileQueries;
}

inline std::int64_t padded_rows(std::int64_t count) {
  return (count + kPanelRows - 1) / kPanelRows * kPanelRows;
}

// A row as the metric is given it, in doubles.
template <Element T>
void read_row(const PairMetric& metric, const MatrixView<T>& points, std::int64_t row, const char* role, double* out);

// Base rows [first, first + count) in panels, prepared: padded_rows(count) × cols doubles. `scratch` has kPanelRows ×
// cols.
template <Element T>
void pack_panels(const PairMetric& metric, const MatrixView<T>& base, std::int64_t first, std::int64_t count,
                 double* scratch, double* panels);

template <Element T>
class TileDistances {
 public:
  // `kept`: all panels of the base, or null.
  TileDistances(const PairMetric& metric, const MatrixView<T>& base, const double* kept)
      : metric_(metric), base_(base), kept_(kept) {}

  void set_queries(const MatrixView<T>& queries, std::int64_t first, std::int64_t count, const char* role);

  // Of query q and base row first + r at [q * stride() + r], until the next call. `first` is a multiple of kPanelRows.
  const double* distances(std::int64_t first, std::int64_t count);
  std::int64_t stride() const { return stride_; }

 private:
  const double* panels(std::int64_t first, std::int64_t count);
  void fill_rows(std::int64_t first, std::int64_t count);

  const PairMetric& metric_;
  const MatrixView<T>& base_;
  const double* kept_;
  std::int64_t query_count_ = 0;
  MatrixView<T> queries_;                 // input elements
  core::AlignedVector<double> prepared_;  // queries
  std::vector<T> query_elements_;
  core::AlignedVector<double> rows_;  // of the base
  std::vector<T> row_elements_;
  core::AlignedVector<double> scratch_;
  core::AlignedVector<double> out_;
  std::int64_t stride_ = 0;
};

}  // namespace kith::custom
