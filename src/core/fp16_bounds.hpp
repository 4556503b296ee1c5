// fp16_bounds.hpp: the error of a score computed from points rounded to fp16.
//
// A point x, less a center c that all points share, is stored as x̃ = fp16(s·(x − c)) with a power of two s; below, x
// stands for x − c, and x̃ for x̃/s, which is exact. With δ = x − x̃ the product's error is
//   ⟨x,y⟩ − ⟨x̃,ỹ⟩ = ⟨δx,y⟩ + ⟨x̃,δy⟩,  so at most  ‖δx‖‖y‖ + ‖x̃‖‖δy‖.
// δ is measured, not estimated: it covers the rounding to fp16, saturation, underflow, and that of x − c, which is
// computed in double with a relative error of 2^-53. The only rounding to float is the one before the rounding to fp16.
// Summing: products of fp16 are exact in float. A tensor core adds m of them to a sum at once, each truncated to 24
// bits relative to the largest, then truncates the sum: an error of (m + 2)·2^-23 of Σ|x̃ỹ| ≤ ‖x̃‖‖ỹ‖ for m coordinates,
// which with m ≥ 2 is at most 2^-22 a coordinate; so is a plain sum in float in any order. Scaling by 1/(s·s) is exact
// except for underflow. An expanded score, ‖y‖² − 2⟨x,y⟩, adds the rounding of ‖y‖² to float (2^-24 of it) and that of
// the last sum (2^-23 of ‖y‖² + 2‖x̃‖‖ỹ‖). As in score_bounds.hpp, the error also covers coordinates that were
// themselves rounded to float a few times (directions), and the key's rounding in double. The error grows with every
// norm, so that the largest norms of a tile give a bound for all of its points. The true score that an expanded one
// stands for is the raw sum less ‖x‖², of which Fp16Norms give a lower bound: ‖x‖'s square, its sum in double, root and
// factor included, is at most (1 + gamma(3d + 40)) times the true one.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/bounds.hpp"

namespace kith::core {

// Norms of one point or the largest of several, none below the true one.
struct Fp16Norms {
  double exact = 0;    // ‖x‖
  double rounded = 0;  // ‖x̃‖
  double lost = 0;     // ‖δ‖
};

// Keeps NaN, of points that are not finite.
KITH_HOST_DEVICE inline Fp16Norms largest(const Fp16Norms& a, const Fp16Norms& b) {
  const auto larger = [](double x, double y) { return x >= y || x != x ? x : y; };
  return {larger(a.exact, b.exact), larger(a.rounded, b.rounded), larger(a.lost, b.lost)};
}

// Makes norms from sums of squares in double, added in any order. `exact` is that of x − c rounded to double, `lost`
// that of the differences from it.
KITH_HOST_DEVICE inline Fp16Norms fp16_norms(double exact, double rounded, double lost, std::int64_t dims) {
  const double up = 1 + gamma<double>(dims + 8);
  const double norm = std::sqrt(exact) * up;
  return {norm, std::sqrt(rounded) * up, std::sqrt(lost) * up + 4 * unit_roundoff<double>() * norm};
}

class Fp16Bounds {
 public:
  // `dims` counts the zeros appended to a row.
  Fp16Bounds(std::int64_t dims, bool expanded)
      : expanded_(expanded),
        summing_(slack(static_cast<double>(dims) * 0x1p-22)),
        roundings_(gamma<float>(8) + gamma<double>(4 * dims + 16)),
        square_error_(2 * gamma<double>(dims + 8)),
        square_excess_(gamma<double>(3 * dims + 48)) {}

  // A lower bound of ‖x‖².
  KITH_HOST_DEVICE double square_below(const Fp16Norms& x) const { return x.exact * x.exact * (1 - square_excess_); }

  // |score − true score| of a query and a base point, or of any of a tile's; infinite where a score could overflow.
  KITH_HOST_DEVICE double error(const Fp16Norms& x, const Fp16Norms& y) const {
    constexpr double kUp = 1 + 1e-9;  // covers the roundings of this function
    const double rounded = x.rounded * y.rounded;
    const double size = expanded_ ? 2 * rounded + y.exact * y.exact : rounded;
    if (!(size < static_cast<double>(std::numeric_limits<float>::max()) / 2))
      return std::numeric_limits<double>::infinity();
    const double product = x.lost * y.exact + x.rounded * y.lost + summing_ * rounded + roundings_ * x.exact * y.exact;
    const double underflow = 4 * static_cast<double>(std::numeric_limits<float>::min());
    if (!expanded_) return product * kUp + underflow;
    const double norms = x.exact + y.exact;
    return (2 * product + 0x1p-22 * size + square_error_ * norms * norms) * kUp + underflow;
  }

 private:
  // A bound of relative errors that build on each other.
  static double slack(double sum) { return sum < 0.5 ? sum / (1 - sum) : std::numeric_limits<double>::infinity(); }

  bool expanded_;
  double summing_;       // relative to the product of the rounded norms
  double roundings_;     // relative to the product of the norms
  double square_error_;  // of squares in double, relative to the square of the norms' sum
  double square_excess_;
};

}  // namespace kith::core
