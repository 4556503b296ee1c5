// point_pairs.hpp: one distance at a time by a PairMetric, of points that were made what its fill() is given.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/pair_metric.hpp"
#include "kith/pivots.hpp"

namespace kith::custom {

// Rows, one after the other: doubles, or elements where the metric takes those.
template <Element T>
struct PreparedPoints {
  std::int64_t rows = 0;
  std::int64_t dims = 0;
  std::vector<double> values;
  std::vector<T> elements;

  const void* row(std::int64_t r) const {
    const auto at = static_cast<std::size_t>(r * dims);
    if (elements.empty()) return values.data() + at;
    return elements.data() + at;
  }
};

// Throws Error(bad_data) for values that are not finite, but for NaN where the metric takes it.
template <Element T>
PreparedPoints<T> prepare_points(const PairMetric& metric, const MatrixView<T>& points, const char* role);

// Distances rounded to the type that searches return.
template <Element T>
class PointPairs final : public PairSource {
 public:
  PointPairs(const PairMetric& metric, const PreparedPoints<T>& queries, const PreparedPoints<T>& base)
      : metric_(metric), queries_(queries), base_(base) {}

  double distance(std::int64_t query, std::int64_t object, double bound) const override;
  bool has_lower_bounds() const override { return false; }
  void lower_bounds(std::int64_t query, std::int64_t first, std::int64_t count, double* out) const override;

 private:
  double by_panel(const double* query, const double* row) const;

  const PairMetric& metric_;
  const PreparedPoints<T>& queries_;
  const PreparedPoints<T>& base_;
};

}  // namespace kith::custom
