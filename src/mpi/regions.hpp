// regions.hpp: how layout landmarks cuts space: into cells, so many for each rank, and what all ranks know of the
// points of each cell, so that a query is only sent where neighbors may be.
//
// Cells are the leaves of a binary tree over a sample of all points: a node is cut where the sample is widest. Of each
// cell everyone knows the box around its points and, from a landmark, which is one of them, the nearest and the
// farthest one. A cell is ruled out for a query by its box, where the metric adds up magnitudes of differences, or by
// the triangle inequality (core/triangle_bounds.hpp): only if all its points have keys strictly above the query's k-th,
// so ties survive. Cells decide what is moved, and never what is found.
#pragma once

#include <cstdint>
#include <vector>

#include "core/triangle_bounds.hpp"
#include "kith/matrix.hpp"
#include "kith/metric.hpp"

namespace kith::mpi {

inline constexpr int kCellsOfRank = 16;

// Why there are no bounds for landmarks by this metric; null: there are.
const char* why_no_bounds(const Metric& metric, bool periodic);

// A row as the metric's distances are computed of it: in double, of length 1 under cosine and correlation.
template <Element T>
void metric_point(const Metric& metric, const T* row, std::int64_t stride, std::int64_t dims, double* out) {
  double norm = 1;
  double mean = 0;
  if (core::has_directions(metric)) {
    const core::RowFacts facts = core::row_facts(metric.kind, row, stride, dims);
    mean = facts.mean;
    norm = std::sqrt(facts.square_norm);
  }
  for (std::int64_t c = 0; c < dims; ++c) out[c] = (core::coordinate(row, stride, c) - mean) / norm;
}

double metric_distance(const Metric& metric, const double* a, const double* b, std::int64_t dims);

class CellTree {
 public:
  CellTree() = default;
  // `sample` holds rows of metric points; it is sorted on the way.
  CellTree(std::vector<double> sample, std::int64_t dims, int cells);
  int cell_of(const double* point) const;

 private:
  struct Node {
    std::int64_t axis = 0;
    double cut = 0;            // coordinates below it go left
    int children[2] = {0, 0};  // of nodes; cells are −1, −2, …
  };
  int build(double* sample, std::int64_t rows, std::int64_t dims, int first_cell, int cells);

  std::vector<Node> nodes_;
};

// The points of a cell. Without any, what is above holds nothing.
class CellSummary {
 public:
  CellSummary() = default;
  explicit CellSummary(std::int64_t dims);

  // The first one is the landmark.
  void add(const Metric& metric, const double* point, std::int64_t dims);
  // As numbers: what one rank tells another.
  std::vector<double> packed() const;
  static CellSummary unpacked(const double* numbers, std::int64_t dims);
  static std::size_t packed_size(std::int64_t dims);

  double count = 0;
  double nearest = 0;  // from the landmark
  double farthest = 0;
  std::vector<double> landmark;
  std::vector<double> low;
  std::vector<double> high;
};

// Whether a cell may hold neighbors of a query.
template <class D>
class CellBounds {
 public:
  CellBounds(const Metric& metric, std::int64_t dims)
      : metric_(metric), dims_(dims), bounds_(metric, dims), has_boxes_(core::has_box_bounds(metric)) {}

  // `theta`: the query's search bound, that of its k-th distance.
  double theta(D kth) const { return bounds_.search_bound(kth); }
  bool may_hold(const CellSummary& cell, const double* point, double theta) const {
    if (cell.count == 0) return false;
    if (!(theta < std::numeric_limits<double>::infinity())) return true;
    if (!box_may_hold(cell, point, theta)) return false;
    const double distance = metric_distance(metric_, point, cell.landmark.data(), dims_);
    const core::DistanceInterval interval = bounds_.interval(distance, cell.farthest, theta);
    return !(cell.farthest < interval.low) && !(cell.nearest > interval.high);
  }
  bool box_may_hold(const CellSummary& cell, const double* point, double theta) const {
    if (!has_boxes_) return true;
    nearest_.resize(static_cast<std::size_t>(dims_));
    for (std::int64_t c = 0; c < dims_; ++c) {
      const auto at = static_cast<std::size_t>(c);
      nearest_[at] = point[c] < cell.low[at] ? cell.low[at] : point[c] > cell.high[at] ? cell.high[at] : point[c];
    }
    // A computed distance of two points: no point of the box is nearer than this, less its error.
    const double distance = metric_distance(metric_, point, nearest_.data(), dims_);
    return !(distance - bounds_.error(distance) > theta);
  }

 private:
  Metric metric_;
  std::int64_t dims_;
  core::TriangleBounds<double, D> bounds_;
  bool has_boxes_;
  mutable std::vector<double> nearest_;
};

}  // namespace kith::mpi
