// length.hpp: lengths from computed scores, in working precision.
#pragma once

#include <cmath>
#include <limits>

#include "core/triangle_bounds.hpp"

namespace kith::cpu {

// As core::length_of_raw(), whose root it takes in F: one of the roundings that TriangleBounds<F> allows for.
template <class F>
F length_of(const Metric& metric, F score) {
  if (core::length_form(metric) == core::Form::squared)
    return score >= 0 ? std::sqrt(score) : std::numeric_limits<F>::infinity();
  return static_cast<F>(core::length_of_raw(metric, static_cast<double>(score)));
}

}  // namespace kith::cpu
