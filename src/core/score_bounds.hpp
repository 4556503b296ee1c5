// score_bounds.hpp: bounds between scores computed in F and keys, so that only points that are provably too far are
// dropped.
//
// A score s̃ stands for a true score s. Direct forms without cancellation (squares, magnitudes, ratios: a difference, a
// sum and a quotient are three roundings) have a relative error:
// s(1−ε)−η ≤ s̃ ≤ s(1+ε)+η. Products have an absolute one: |s̃ − s| ≤ E, where E grows with the norm of the query and
// the largest norm of a tile's rows. Sums of small integers have none. η covers underflow, flushed to zero or not. Both
// include the key's own rounding in double. "Expanded" means ‖y‖² − 2⟨x,y⟩ from a matrix product: the true score is
// then the raw sum minus ‖x‖².
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/bounds.hpp"
#include "core/key.hpp"

namespace kith::core {

// The integer range of points of type T, where the type tells it, else 0.
template <class T>
constexpr double range_of_type() {
  return sizeof(T) == 1 ? 255 : 0;
}

// What products are computed from, where that is not the coordinates in F: a coordinate z stands there as z̃ with
// |z − z̃| ≤ rounding·|z|, and subnormal numbers, operands and products alike, may be zeros. Then
//   |⟨x,y⟩ − ⟨x̃,ỹ⟩| ≤ (2ρ + ρ²)‖x‖‖y‖,
// and sums of ⟨x̃,ỹ⟩ have an error relative to (1 + ρ)²‖x‖‖y‖.
struct RoundedOperands {
  double rounding = 0;  // ρ
  bool flushed = false;
};
inline constexpr RoundedOperands kBf16Operands{0x1p-8, true};
inline constexpr RoundedOperands kStoredBf16Operands{0, true};  // of points that are bfloat16 already

// Scores are computed in F, which is also the type of keys.
template <class F>
class ScoreBounds {
 public:
  // `integer_range`: the largest difference of two coordinates where all are integers, else 0. `scale`: a power of two
  // that coordinates were multiplied by before their scores were computed; other than 1 for squares and products only.
  // `operands`: of products, whose sums may then have two roundings a coordinate.
  ScoreBounds(const Metric& metric, std::int64_t dims, bool expanded, double integer_range, double scale = 1,
              RoundedOperands operands = {})
      : metric_(metric),
        form_(form_of(metric)),
        dims_(dims),
        expanded_(expanded),
        directions_(has_directions(metric)),
        scale_(scale),
        raw_scale_(scale * scale),
        exact_(!operands.flushed && (counts_fit() || sums_fit(integer_range))),
        loses_small_(scale != 1 || operands.flushed),
        relative_(exact_ || is_absolute() ? 0.0 : relative_error()),
        underflow_(exact_ ? 0.0
                          : (operands.flushed ? 8 : 1) * static_cast<double>(dims) *
                                static_cast<double>(std::numeric_limits<F>::min())),
        product_error_(
            (operands.rounding * (2 + operands.rounding) +
             gamma<F>((operands.flushed ? 2 : 1) * dims + 8) * (1 + operands.rounding) * (1 + operands.rounding) +
             gamma<double>(4 * dims + 16)) *
            1.01),
        square_error_(2 * gamma<double>(dims + 8)) {}

  // Whether scores have no error.
  KITH_HOST_DEVICE bool is_exact() const { return exact_; }
  // Whether scores are products with rounding errors, which depend on norms.
  KITH_HOST_DEVICE bool is_absolute() const { return !exact_ && (expanded_ || form_ == Form::dot); }

  // ε and η of the header comment.
  double relative_error_of_scores() const { return relative_; }
  double underflow_of_scores() const { return underflow_; }

  // E of the header comment; infinite where a sum could overflow on its way. Norms are 1 under cosine and correlation,
  // whose rows are unit vectors.
  KITH_HOST_DEVICE double error(double query_square_norm, double tile_square_norm) const {
    if (!is_absolute()) return 0;
    const double x = directions_ ? 1.0 : scale_ * std::sqrt(query_square_norm);
    const double y = directions_ ? 1.0 : scale_ * std::sqrt(tile_square_norm);
    // No partial sum exceeds the product of the norms plus the squares added to it.
    const double largest = expanded_ ? 2 * x * y + y * y : x * y;
    if (!(largest < static_cast<double>(std::numeric_limits<F>::max()) / 2))
      return std::numeric_limits<double>::infinity();
    const double products = product_error_ * x * y + (loses_small_ ? underflow_ * (x + y) : 0.0);
    if (!expanded_) return products + underflow_;
    const double squares = 4 * unit_roundoff<F>() * y * y + square_error_ * (x + y) * (x + y);
    return 2 * products + squares + underflow_;
  }

  // An upper bound of the key of a candidate whose score plus its E is `raised`.
  KITH_HOST_DEVICE F key_above(F raised, double query_square_norm) const {
    const double score = static_cast<double>(raised) / raw_scale_;
    if (directions_) return static_cast<F>(1 + score < 0 ? 0 : 1 + score > 2 ? 2 : 1 + score);
    if (form_ == Form::dot) return static_cast<F>(score);
    if (relative_ >= 1) return std::numeric_limits<F>::infinity();
    const double raw = expanded_ ? score + query_square_norm : (score + underflow_ / raw_scale_) / (1 - relative_);
    const F key = static_cast<F>(finish(metric_, raw < 0 ? 0.0 : raw, {}, {}, dims_));
    // pow() may be off by an ulp, and is then not monotone.
    return form_ == Form::power ? std::nextafter(key, std::numeric_limits<F>::infinity()) : key;
  }

  // True scores, of scaled coordinates, above this have keys strictly above `key`.
  KITH_HOST_DEVICE double true_limit(F key, double query_square_norm) const {
    const double raw = raw_ceiling(metric_, key, dims_);
    if (directions_) return raw - 1;
    return (expanded_ ? raw - query_square_norm : raw) * raw_scale_;
  }

  // Computed scores above this belong to true scores above `limit`; `error` is E, or 2E for scores that were raised.
  KITH_HOST_DEVICE F computed_limit(double limit, double error) const {
    if (form_ == Form::power && limit > kMaxPower) return std::numeric_limits<F>::infinity();
    return round_up<F>(limit * (1 + relative_) + underflow_ + error);
  }

  // For scores without error: whether no other score has this key. Then ties among scores are ties among keys, and the
  // order by (score, id) is that by (key, id).
  KITH_HOST_DEVICE bool has_key_alone(F score, F key, double query_square_norm) const {
    if (!exact_ || form_ == Form::dot) return exact_ && score == key;
    const double raw = static_cast<double>(score) + (expanded_ ? query_square_norm : 0.0);
    return key_of(raw) == key && (raw < 1 || key_of(raw - 1) < key) && key < key_of(raw + 1);
  }

 private:
  // The vector exponential (PowerForm) overflows beyond it, before the largest double.
  static constexpr double kMaxPower = 1e306;

  KITH_HOST_DEVICE F key_of(double raw) const { return static_cast<F>(finish(metric_, raw, {}, {}, dims_)); }

  // F counts differing coordinates exactly only up to 1/u.
  bool counts_fit() const { return form_ == Form::mismatch && static_cast<double>(dims_) < 1 / unit_roundoff<F>(); }

  // Whether every sum of products, and every partial sum, is an integer that F represents.
  bool sums_fit(double integer_range) const {
    const bool integral = form_ == Form::squared || form_ == Form::absolute || form_ == Form::maximum ||
                          (form_ == Form::dot && !directions_);
    return integer_range > 0 && integral &&
           static_cast<double>(dims_) * integer_range * integer_range < 1 / unit_roundoff<F>();
  }

  double relative_error() const {
    // A scaled coordinate may lose digits below the smallest normal number m. Where the difference is above m·2⁴⁶ its
    // square is then off by less than this fraction, and else by less than the absolute term.
    constexpr double kScaled = 0x1p-40;
    const double sums = gamma<F>(dims_ + 4) + gamma<double>(dims_ + 4) + (scale_ != 1 ? kScaled : 0.0);
    if (form_ != Form::power) return sums;
    // exp(p·log|x−y|): the exponent stays below 709 (88 in float), and each function is good to a few ulp.
    const double exponent = std::is_same_v<F, float> ? 88 : 709;
    return sums + (16 * exponent + 4 * metric_.p) * unit_roundoff<F>();
  }

  Metric metric_;
  Form form_;
  std::int64_t dims_;
  bool expanded_;
  bool directions_;
  double scale_;
  double raw_scale_;  // of squares and products
  bool exact_;
  bool loses_small_;  // coordinates may have become subnormal, or zeros
  double relative_;
  double underflow_;
  double product_error_;  // relative to the product of the norms
  double square_error_;   // of norms in double, relative to the square of the norms' sum
};

}  // namespace kith::core
