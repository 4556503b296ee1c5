// tree_queries.hpp: queries that walk through a tree, a warp each.
#pragma once

#include <limits>

#include "core/score_bounds.hpp"
#include "cuda/tree/tree_view.hpp"

namespace kith::KITH_BACKEND::tree {

// The limit of squares by arithmetic in F alone, a few roundings above that of core::ScoreBounds. For points that are
// not scaled.
template <class F>
struct SquareLimit {
  F factor = 0;
  F underflow = 0;
  bool of_squares = false;  // keys are squares themselves

  SquareLimit() = default;
  SquareLimit(const Metric& metric, const core::ScoreBounds<F>& bounds)
      : of_squares(metric.kind == MetricKind::sqeuclidean) {
    const double roundings = 1 + 8 * core::unit_roundoff<F>();
    factor = core::round_up<F>((1 + bounds.relative_error_of_scores()) * (1 + 4e-16) * roundings);
    underflow = core::round_up<F>(bounds.underflow_of_scores() + 4 * static_cast<double>(kTiny));
  }

  // Scores above the result belong to keys strictly above `key`.
  KITH_HOST_DEVICE F of(F key) const {
    constexpr auto kNext = static_cast<F>(1 + 4 * core::unit_roundoff<F>());
    const F above = key * kNext + kTiny;
    return (of_squares ? above : above * above) * factor + underflow;
  }

 private:
  static constexpr F kTiny = std::numeric_limits<F>::min();
};

// Queries order[first] … order[first + count − 1].
template <class F>
struct TreeQueries {
  TreeView<F> tree;
  PointRows<F> base;  // as the points were given
  PointRows<F> queries;
  const unsigned* order = nullptr;
  std::int64_t first = 0;
  std::int64_t count = 0;
  Metric metric;
  core::Form form = core::Form::squared;
  core::ScoreBounds<F> bounds;
  core::PeriodicBounds<F> periodic_bounds;
  SquareLimit<F> square_limit;
};

// What the compiler knows of a walk: whether scores are squares, whether axes are periodic, and the number of
// dimensions, or 0 where kernels read it.
template <bool squared, bool periodic, int dims>
struct WalkKind {
  static constexpr bool kSquared = squared;
  static constexpr bool kPeriodic = periodic;
  static constexpr int kDims = dims;
};

// Calls body(WalkKind). Points of float in two or three dimensions are what most trees are of.
template <class F, class Body>
void with_walk(const TreeQueries<F>& queries, Body body) {
  const bool squared = queries.form == core::Form::squared;
  const unsigned dims = queries.tree.dims;
  if (queries.tree.is_periodic()) {
    if (!squared) return body(WalkKind<false, true, 0>());
    if constexpr (sizeof(F) == 4)
      if (dims == 3) return body(WalkKind<true, true, 3>());
    return body(WalkKind<true, true, 0>());
  }
  if (!squared) return body(WalkKind<false, false, 0>());
  if constexpr (sizeof(F) == 4) {
    if (dims == 2) return body(WalkKind<true, false, 2>());
    if (dims == 3) return body(WalkKind<true, false, 3>());
  }
  body(WalkKind<true, false, 0>());
}

}  // namespace kith::KITH_BACKEND::tree
