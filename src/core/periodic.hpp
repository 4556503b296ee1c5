// periodic.hpp: axes whose ends meet (Options::period). The definition: along an axis of period L > 0 the difference of
// two coordinates is δ = |x − y| modulo L, or L − δ where that is less, in double; along others it is |x − y|. The key
// is then that of core/key.hpp, of terms of these differences.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/host_device.hpp"
#include "core/key.hpp"

namespace kith::core {

inline bool is_periodic(const std::vector<double>& period) {
  return std::any_of(period.begin(), period.end(), [](double each) { return each > 0; });
}

KITH_HOST_DEVICE inline double periodic_difference(double x, double y, double period) {
  double difference = std::abs(x - y);
  if (!(period > 0)) return difference;
  if (difference > std::numeric_limits<double>::max()) {
    // It overflows: of coordinates within a period, the greater one less a period is as far from the other modulo L.
    const double a = std::fmod(x, period);
    const double b = std::fmod(y, period);
    difference = std::abs((std::max(a, b) - period) - std::min(a, b));
  }
  const double rest = difference < period ? difference : std::fmod(difference, period);
  return std::min(rest, period - rest);
}

// raw_sum() of key.hpp, of a query in double. axes[c].period is that of axis c.
template <class Y, class Axis>
double periodic_raw_sum(Form form, double p, const double* x, const Y* y, std::int64_t y_stride, const Axis* axes,
                        std::int64_t dims) {
  const auto term_at = [&](std::int64_t c) {
    return term(form, p, periodic_difference(x[c], coordinate(y, y_stride, c), axes[c].period), 0.0);
  };
  if (form != Form::maximum) return striped_sum(dims, term_at);
  double largest = 0;
  for (std::int64_t c = 0; c < dims; ++c) largest = std::max(largest, term_at(c));
  return largest;
}

// The image of x in [0, L], up to one rounding of a sum; x itself where there is no period.
KITH_HOST_DEVICE inline double wrapped(double x, double period) {
  if (!(period > 0) || (x >= 0 && x < period)) return x;
  const double rest = std::fmod(x, period);
  return rest < 0 ? rest + period : rest;
}

}  // namespace kith::core
