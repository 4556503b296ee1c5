// tree_query.cuh: one query of a warp: scores of boxes and points, a lane each, and exact keys.
// Proof   the score of a box is that of its point nearest to the query, whose coordinates are the query's or a side's,
//         computed as scores of points are. If core/score_bounds.hpp proves that point to be too far, every point of
//         the box is: none is nearer in any coordinate. The farthest corner proves likewise that all are near enough.
//         With periodic axes the same holds of the differences of core/periodic_frame.hpp, whose error is counted in.
#pragma once

#include "cuda/distance/lane_key.cuh"
#include "cuda/distance/score_terms.cuh"
#include "cuda/primitives/key.cuh"
#include "cuda/primitives/warp_reduce.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/tree/tree_queries.hpp"
#include "cuda/tree/walk.cuh"

namespace kith::KITH_BACKEND::tree {

// Not inlined: with all metrics they are long.
template <class F>
KITH_NOINLINE __device__ F limit_of_key(const core::ScoreBounds<F>& bounds, F key) {
  return bounds.computed_limit(bounds.true_limit(key, 0), 0);
}

template <class F>
KITH_NOINLINE __device__ F key_above_score(const core::ScoreBounds<F>& bounds, F score) {
  return bounds.key_above(score, 0);
}

// A key that others, which periodic axes let be off by `error`, are to be strictly above.
template <class F>
KITH_NOINLINE __device__ F raised_key(const core::PeriodicBounds<F>& bounds, F key, double error) {
  return bounds.raised(std::nextafter(key, std::numeric_limits<F>::infinity()), error);
}

// Not inlined: eight sums that live across the calls of their terms would take the kernel's registers. `axes` is null
// where none is periodic.
template <class F>
KITH_NOINLINE __device__ double any_raw(core::Form form, double p, unsigned dims, const F* x, const F* y,
                                        unsigned y_stride, const core::PeriodicAxis* axes) {
  const auto x_at = [=](unsigned c) { return static_cast<double>(x[c]); };
  const auto y_at = [=](unsigned c) { return static_cast<double>(y[c * y_stride]); };
  if (axes == nullptr) return distance::lane_raw<false, 0>(form, p, dims, x_at, y_at);
  return distance::lane_raw<false, 0>(
      form, p, dims, [=](unsigned c) { return core::periodic_difference(x_at(c), y_at(c), axes[c].period); },
      [](unsigned) { return 0.0; });
}

// Coordinates of a warp's query in the frame of the points, where axes are periodic.
constexpr auto kMostPeriodicDims = static_cast<unsigned>(core::TreeLimits::kMostPeriodicDims);
static_assert(kMostPeriodicDims <= kWarp, "a lane has an axis");
template <class Kind>
constexpr unsigned kFrame = Kind::kPeriodic ? kMostPeriodicDims : 1;

template <class F, class Kind>
class TreeQuery {
  static constexpr bool kSquared = Kind::kSquared;
  static constexpr bool kPeriodic = Kind::kPeriodic;
  static constexpr int kDims = Kind::kDims;

 public:
  using Key = KeyOf<F>;

  // Must be called by all lanes of the warp. `frame` is shared memory of the warp, kFrame values.
  __device__ TreeQuery(const TreeQueries<F>& call, unsigned number, F* frame)
      : call_(call), row_(call.queries.data + static_cast<std::int64_t>(number) * call.queries.stride), frame_(frame) {
    if constexpr (kPeriodic) put_into_frame();
    if constexpr (kDims > 0) {
      KITH_UNROLL
      for (int c = 0; c < kDims; ++c) {
        x_[c] = kPeriodic ? frame_[c] : row_[c] * call.tree.scale;
        if constexpr (kPeriodic) periods_[c] = call.tree.periods[c];
      }
    }
  }

  // Scores above the result belong to keys strictly above `key`.
  __device__ __forceinline__ F limit_of(F key) const {
    if constexpr (kPeriodic) key = raised_key(call_.periodic_bounds, key, error_);
    if (kSquared && call_.tree.scale == 1) return call_.square_limit.of(key);
    return limit_of_key(call_.bounds, key);
  }
  // No point with such a score has a larger key.
  __device__ __forceinline__ F key_above(F score) const {
    const F key = key_above_score(call_.bounds, score);
    if constexpr (kPeriodic) return raised_key(call_.periodic_bounds, key, error_);
    return key;
  }

  // Scores up to the result belong to keys that are at most `key`; −1 where none is known.
  __device__ F surely_within(F key) const {
    constexpr auto kSlightly = static_cast<F>(sizeof(F) == 4 ? 1e-5 : 1e-13);
    const F inner = kPeriodic ? call_.periodic_bounds.lowered(key, error_) : key;
    if (inner < 0) return -1;
    const F score = limit_of_key(call_.bounds, inner) * (1 - kSlightly);
    return score < std::numeric_limits<F>::infinity() && key_above(score) <= key ? score : F{-1};
  }

  // Of this lane's box of a group, whose sides begin at `sides`.
  __device__ __forceinline__ F box_score(const F* sides) const {
    return score([=](unsigned c, F x, F period) -> Pair {
      const F least = sides[2 * c * kFanOut + lane_id()];
      const F greatest = sides[(2 * c + 1) * kFanOut + lane_id()];
      if constexpr (!kPeriodic) return {x, fmin(fmax(x, least), greatest)};
      // The way around is L + (x − greatest) to a box on the right, and L + (least − x) to one on the left.
      const F gap = fmin(fmax(least - x, x - greatest), period + fmin(least - x, x - greatest));
      return {fmax(gap, F{0}), 0};
    });
  }
  // Of its corner farthest from the query.
  __device__ __forceinline__ F corner_score(const F* sides) const {
    return score([=](unsigned c, F x, F period) -> Pair {
      const F least = sides[2 * c * kFanOut + lane_id()];
      const F greatest = sides[(2 * c + 1) * kFanOut + lane_id()];
      if constexpr (!kPeriodic) return {x, x - least > greatest - x ? least : greatest};
      return {fmin(fmax(x - least, greatest - x), period / 2), 0};
    });
  }
  // Of this lane's box of a group, or kDone where it has none.
  __device__ __forceinline__ F open(int level, unsigned group) const {
    const F score = box_score(sides_of(level, group));
    return group * kFanOut + lane_id() < call_.tree.level[level].count ? score : kDone<F>;
  }
  __device__ __forceinline__ const F* sides_of(int level, unsigned group) const {
    return call_.tree.level[level].boxes + static_cast<std::int64_t>(group) * 2 * kFanOut * dims();
  }
  // Of this lane's point of a leaf.
  __device__ __forceinline__ F point_score(unsigned leaf) const {
    const F* const points = leaf_points(leaf);
    return score([=](unsigned c, F x, F period) -> Pair {
      const F y = points[c * kLeafPoints];
      if constexpr (!kPeriodic) return {x, y};
      const F direct = fabs(x - y);
      return {fmin(direct, fabs(period - direct)), 0};
    });
  }
  // The key of the same point.
  __device__ __forceinline__ Key key(unsigned leaf) const {
    const unsigned id = call_.tree.ids[leaf * kLeafPoints + lane_id()];
    const bool given = !kPeriodic && call_.tree.scale == 1;
    const F* const y = given ? leaf_points(leaf) : call_.base.data + id * call_.base.stride;
    const unsigned y_stride = given ? kLeafPoints : 1;
    double distance = 0;
    if constexpr (kSquared) {
      // In registers where the compiler knows how many there are.
      const auto x_at = [=, this](unsigned c) { return static_cast<double>(kDims > 0 && given ? x_[c] : row_[c]); };
      const auto y_at = [=](unsigned c) { return static_cast<double>(y[c * y_stride]); };
      double raw = 0;
      if constexpr (kPeriodic) {
        const auto difference = [=, this](unsigned c) {
          return core::periodic_difference(x_at(c), y_at(c), call_.tree.axes[c].period);
        };
        raw = distance::lane_raw<true, kDims>(core::Form::squared, 2, dims(), difference, [](unsigned) { return 0.0; });
      } else {
        raw = distance::lane_raw<true, kDims>(core::Form::squared, 2, dims(), x_at, y_at);
      }
      distance = call_.metric.kind == MetricKind::sqeuclidean ? raw : sqrt(raw);
    } else {
      const double raw =
          any_raw(call_.form, call_.metric.p, dims(), row_, y, y_stride, kPeriodic ? call_.tree.axes : nullptr);
      distance = distance::finish_key(call_.metric, raw, {}, {}, dims());
    }
    return make_key(ordered_bits(static_cast<F>(distance), false), id);
  }
  // Whether this lane has a point of the leaf.
  __device__ __forceinline__ bool has_point(unsigned leaf) const {
    return leaf * kLeafPoints + lane_id() < call_.tree.count;
  }

 private:
  // Two coordinates whose difference counts.
  struct Pair {
    F x, y;
  };

  __device__ __forceinline__ unsigned dims() const { return kDims > 0 ? kDims : call_.tree.dims; }
  __device__ __forceinline__ const F* leaf_points(unsigned leaf) const {
    return call_.tree.points + static_cast<std::int64_t>(leaf) * kLeafPoints * dims() + lane_id();
  }

  // A lane has an axis.
  __device__ void put_into_frame() {
    const auto scale = static_cast<double>(call_.tree.scale);
    if (lane_id() < dims()) {
      const core::PeriodicAxis axis = call_.tree.axes[lane_id()];
      const auto given = static_cast<double>(row_[lane_id()]);
      frame_[lane_id()] = static_cast<F>(axis.framed(given) * scale);
      error_ = core::axis_error<F>(axis, given, scale);
    }
    __syncwarp();
    error_ = warp_sum(error_);
  }

  // The score of coordinates pair(c, x, period), where x is the query's.
  template <class PairOf>
  __device__ __forceinline__ F score(PairOf pair) const {
    const distance::ScoreTerms<F, kSquared> terms{call_.form, static_cast<F>(call_.metric.p)};
    F sum = 0;
    if constexpr (kDims > 0) {
      KITH_UNROLL
      for (unsigned c = 0; c < kDims; ++c) {
        const Pair each = pair(c, x_[c], kPeriodic ? periods_[c] : F{0});
        sum = terms.add(sum, each.x, each.y);
      }
    } else {
      for (unsigned c = 0; c < call_.tree.dims; ++c) {
        const F x = kPeriodic ? frame_[c] : row_[c] * call_.tree.scale;
        const Pair each = pair(c, x, kPeriodic ? call_.tree.periods[c] : F{0});
        sum = terms.add(sum, each.x, each.y);
      }
    }
    return sum;
  }

  const TreeQueries<F>& call_;
  const F* row_;
  F* frame_;
  double error_ = 0;  // of periodic axes
  F x_[kDims > 0 ? kDims : 1];
  F periods_[kPeriodic && kDims > 0 ? kDims : 1];
};

}  // namespace kith::KITH_BACKEND::tree
