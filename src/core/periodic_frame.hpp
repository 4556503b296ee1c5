// periodic_frame.hpp: where coordinates lie along axes whose ends meet (core/periodic.hpp), for trees of boxes.
// Idea    along a periodic axis points that span no more than a period L stay where they are; others are wrapped into
//         [0, L]. A query is wrapped into a frame of length L around them. No two coordinates are then more than L
//         apart, and their periodic difference is |d| or L − |d|, whichever is less. Axes are independent, so a box has
//         a nearest point, and a farthest corner, as without periods.
// Proof   wrapped coordinates, L and L − |d| are rounded in working precision F, and so are differences of the
//         definition. Along axis c all this together is off by e_c at most, and by a few roundings of the difference;
//         E is the sum of all e_c, which no norm of them exceeds. Where points span half a period or less, |d| is at
//         most 3/4 L, L − |d| is no small difference of large numbers, and a query in the frame has no e_c but for
//         underflow. Let K be the key of a query and a point by the definition, as a distance, and N that of the
//         differences which a walk computes. By the triangle inequality they differ by E and a few roundings. So a
//         point, or a box, may be dropped where N is above a bound B of keys by more than that, and a key is bounded
//         by N likewise. raised() adds E, and more than what sums, roots and those few roundings make. Where a term
//         may underflow, K may be less than it should be: distances below those of such terms count as them.
// Limits  where e_c is no small part of a period, as 10¹⁵ periods away from 0, or a period is beyond the range of F, E
// is
//         infinite: nothing is dropped.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/bounds.hpp"
#include "core/periodic.hpp"

namespace kith::core {

struct PeriodicAxis {
  double period = 0;       // 0 for an axis without
  double largest = 0;      // magnitude of a point's coordinate, as it was given
  double origin = 0;       // of the frame
  bool wraps = false;      // points are wrapped into [0, L]
  bool is_narrow = false;  // points span half a period at most

  // Of a coordinate of a query.
  KITH_HOST_DEVICE bool is_in_frame(double x) const { return !(period > 0) || (x >= origin && x <= origin + period); }
  // Its image in the frame, up to rounding.
  KITH_HOST_DEVICE double framed(double x) const { return is_in_frame(x) ? x : origin + wrapped(x - origin, period); }
};

// Of points whose coordinates lie between these two.
inline PeriodicAxis periodic_axis(double period, double least, double greatest) {
  PeriodicAxis axis;
  axis.period = period;
  axis.largest = std::max(std::abs(least), std::abs(greatest));
  axis.wraps = period > 0 && !(greatest - least <= period);
  axis.is_narrow = period > 0 && greatest - least <= period / 2;
  if (period > 0 && !axis.wraps) axis.origin = least / 2 + greatest / 2 - period / 2;
  return axis;
}

// The period that walks take: in working precision, and infinite where there is none.
template <class F>
F working_period(const PeriodicAxis& axis, double scale) {
  return axis.period > 0 ? static_cast<F>(axis.period * scale) : std::numeric_limits<F>::infinity();
}

// e_c of the header comment for a query's coordinate x. Coordinates are multiplied by `scale`, a power of two, before
// walks take them.
template <class F>
KITH_HOST_DEVICE double axis_error(const PeriodicAxis& axis, double x, double scale) {
  if (!(axis.period > 0)) return 0;
  constexpr double kDoubles = 8;  // roundings in double, of a wrapped coordinate and of the definition
  constexpr double kPeriods = 4;  // roundings in F of L, of |d| and of L − |d|, none of them above L
  const double rounding = unit_roundoff<F>();
  const double tiny = 4 * static_cast<double>(std::numeric_limits<F>::min()) / scale;
  const bool is_in_frame = axis.is_in_frame(x);
  const double magnitude = axis.largest + 3 * axis.period;
  const bool is_held = magnitude * scale < static_cast<double>(std::numeric_limits<F>::max()) / 4;
  if (!is_held) return std::numeric_limits<double>::infinity();
  if (is_in_frame && axis.is_narrow) return tiny;
  // The sum overflows where a difference might.
  double error = kDoubles * unit_roundoff<double>() * (std::abs(x) + magnitude) + kPeriods * rounding * axis.period;
  if (!is_in_frame) error += rounding * magnitude;
  if (axis.wraps) error += rounding * axis.period;
  return error < axis.period / 8 ? error + tiny : std::numeric_limits<double>::infinity();
}

// What E does to keys.
template <class F>
class PeriodicBounds {
 public:
  PeriodicBounds() = default;
  PeriodicBounds(const Metric& metric, std::int64_t dims) {
    const Form form = form_of(metric);
    const double power = form == Form::squared ? 2 : form == Form::power ? metric.p : 1;
    constexpr double kUnderflow = 1e-300;
    constexpr double kOverflow = 1e300;
    constexpr double kFewRoundings = 40;
    is_square_ = effective_kind(metric) == MetricKind::sqeuclidean;
    // finish() takes a power that is rounded: raw_of_distance().
    slack_ = 8 * gamma<double>(dims + 16) + kFewRoundings * unit_roundoff<F>() + (form == Form::power ? 1e-12 : 0.0);
    least_distance_ = power > 1 ? std::pow(static_cast<double>(dims) * kUnderflow, 1 / power) : 0.0;
    most_distance_ = std::pow(kOverflow, 1 / power);
  }

  // A bound of keys by the definition from one of keys of a walk, and the other way around, where these are off by
  // `error`, E.
  KITH_HOST_DEVICE F raised(F key, double error) const {
    constexpr double kMargin = 1.01;
    auto distance = static_cast<double>(key);
    if (is_square_) distance = std::sqrt(distance);
    distance = (std::max(distance, least_distance_) + kMargin * error) * (1 + slack_);
    if (!(distance <= most_distance_)) return std::numeric_limits<F>::infinity();
    if (is_square_) distance *= distance * (1 + slack_);
    return std::nextafter(round_up<F>(distance), std::numeric_limits<F>::infinity());
  }
  // The other way around: raised() makes no more than `key` of the result, but for a few roundings of F; negative where
  // there is no such key.
  KITH_HOST_DEVICE F lowered(F key, double error) const {
    constexpr double kMargin = 1.02;
    auto distance = static_cast<double>(key);
    if (is_square_) distance = std::sqrt(distance);
    distance = distance * (1 - 4 * slack_) - kMargin * error;
    if (!(distance > least_distance_)) return -1;
    return static_cast<F>(is_square_ ? distance * distance : distance);
  }

 private:
  bool is_square_ = false;
  double slack_ = 0;           // of sums, roots and powers, relative
  double least_distance_ = 0;  // terms of smaller ones may underflow
  double most_distance_ = 0;   // terms of larger ones may overflow
};

}  // namespace kith::core
