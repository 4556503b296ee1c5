// Points under a metric of yours that keeps the triangle inequality: by the distances of all points to a few of them
// most others are ruled out (kith/pivots.hpp), and what is returned is what search_by() returns.
//
//   const auto metric = kith::pair_metric<float>([](std::span<const float> x, std::span<const float> y) { … });
//   kith::PivotPoints<float> index(metric, base);        // declares it symmetric, with the triangle inequality
//   auto found = index.search(queries, 10);              // found.report counts evaluations
//
// It is for functions that take microseconds. A metric of terms or a formula is filled in for sixteen points at a time
// by search_by(), and for one here: it pays where nearly all of them are ruled out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kith/export.hpp"
#include "kith/matrix.hpp"
#include "kith/pair_metric.hpp"
#include "kith/pivots.hpp"

namespace kith {

// All functions are thread-safe as far as the metric is.
template <Element T>
class KITH_API PivotPoints {
 public:
  // Keeps the points as the metric is given them. What is declared is looked into: distances among some of the points
  // that are negative, not symmetric or break the triangle inequality are Error(bad_data). `relative_error` is beside
  // the rounding of distances to DistanceOf<T>.
  PivotPoints(std::shared_ptr<const PairMetric> metric, MatrixView<T> base, const DistanceProperties& properties = {},
              const PivotOptions& options = {});
  // An index that was moved from can only be assigned to or destroyed.
  PivotPoints(PivotPoints&&) noexcept;
  PivotPoints& operator=(PivotPoints&&) noexcept;
  ~PivotPoints();

  // Distances are those of search_by(), of type DistanceOf<T>, as doubles; equal ones by the smaller id.
  PivotNeighbors search(MatrixView<T> queries, std::int64_t k) const;
  // Of each point, itself left out by its id.
  PivotNeighbors search_self(std::int64_t k) const;
  // One radius for all queries, or one for each; not negative.
  PivotRadiusNeighbors search_radius(MatrixView<T> queries, std::span<const double> radii) const;

  std::int64_t rows() const;
  std::span<const std::int64_t> pivots() const;
  // Of pivots, and of the points that declarations were looked into with.
  std::int64_t build_evaluations() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kith
