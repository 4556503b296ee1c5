// walk_query.hpp: a query as walks through a tree take it: in working precision, and in the frame of the points where
// axes are periodic (core/periodic_frame.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/score_bounds.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/tree/tree.hpp"

namespace kith::cpu {

template <Element T>
class WalkQuery {
 public:
  using F = DistanceOf<T>;

  WalkQuery(const PreparedRows<T>& base, const Tree<F>& tree)
      : tree_(tree),
        bounds_(base.metric, tree.dims, false, tree.is_periodic() ? 0.0 : core::range_of_type<T>(), base.scale),
        periodic_bounds_(base.metric, tree.dims),
        scratch_(static_cast<std::size_t>(tree.dims)),
        exact_(scratch_.size()) {}

  void set(const PreparedRows<T>& queries, std::int64_t query) {
    exact_query(queries, query, exact_.data());
    if (!tree_.is_periodic()) {
      row_ = working_rows(queries, query, 1, scratch_.data()).data;
      return;
    }
    error_ = 0;
    row_ = scratch_.data();
    for (std::size_t c = 0; c < exact_.size(); ++c) {
      scratch_[c] = static_cast<F>(tree_.axes[c].framed(exact_[c]) * queries.scale);
      error_ += core::axis_error<F>(tree_.axes[c], exact_[c], queries.scale);
    }
  }

  const F* row() const { return row_; }
  const double* exact() const { return exact_.data(); }  // as it was given
  // Whether scores tell anything at all.
  bool is_certain() const { return error_ < std::numeric_limits<double>::infinity(); }

  // Points and boxes with larger scores have keys strictly above `key`.
  F limit_of(F key) const {
    if (tree_.is_periodic())
      key = periodic_bounds_.raised(std::nextafter(key, std::numeric_limits<F>::infinity()), error_);
    return bounds_.computed_limit(bounds_.true_limit(key, 0), 0);
  }
  // No point with such a score, or a smaller one, has a larger key.
  F key_above(F score) const {
    const F key = bounds_.key_above(score, 0);
    return tree_.is_periodic() ? periodic_bounds_.raised(key, error_) : key;
  }
  // Scores up to the result belong to keys that are at most `key`; −1 where none is known.
  F surely_within(F key) const {
    constexpr auto kSlightly = static_cast<F>(sizeof(F) == 4 ? 1e-5 : 1e-13);
    const F inner = tree_.is_periodic() ? periodic_bounds_.lowered(key, error_) : key;
    if (inner < 0) return -1;
    const F score = bounds_.computed_limit(bounds_.true_limit(inner, 0), 0) * (1 - kSlightly);
    return score < std::numeric_limits<F>::infinity() && key_above(score) <= key ? score : F{-1};
  }
  const core::ScoreBounds<F>& bounds() const { return bounds_; }

 private:
  const Tree<F>& tree_;
  core::ScoreBounds<F> bounds_;
  core::PeriodicBounds<F> periodic_bounds_;
  double error_ = 0;
  const F* row_ = nullptr;
  std::vector<F> scratch_;
  std::vector<double> exact_;
};

}  // namespace kith::cpu
