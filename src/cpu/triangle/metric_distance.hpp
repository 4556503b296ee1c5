// metric_distance.hpp: metric distances (core/triangle_bounds.hpp) from computed scores, in working precision.
#pragma once

#include <cmath>
#include <limits>

#include "core/triangle_bounds.hpp"

namespace kith::cpu {

// core::metric_distance_of_raw() with the root taken in F: one of the roundings that TriangleBounds<F> allows for.
template <class F>
F metric_distance(const Metric& metric, F score) {
  if (core::metric_distance_form(metric) == core::Form::squared)
    return score >= 0 ? std::sqrt(score) : std::numeric_limits<F>::infinity();
  return static_cast<F>(core::metric_distance_of_raw(metric, static_cast<double>(score)));
}

}  // namespace kith::cpu
