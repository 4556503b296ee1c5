// curve_shifts.hpp: the shifts and the curve that the tuning of a plan stands for.
#pragma once

#include <algorithm>

#include "core/curve.hpp"
#include "kith/options.hpp"

namespace kith::core {

// Of the points' longest side. Li et al. (3.1): small shifts leave it 0.75; the shifts of Chan's lemma go as far as the
// points, so both have half of the cube.
inline constexpr double kUsualExtent = 0.75;
inline constexpr double kSharedExtent = 0.5;

inline CurveShifts curve_shifts(const ShiftedSortTuning& tuning) {
  const double room = 1 - (tuning.shifts - 1) * tuning.shift;
  return {tuning.shifts, tuning.shift, tuning.guaranteed ? kSharedExtent : std::min(kUsualExtent, room)};
}

inline Curve curve_of(const ShiftedSortTuning& tuning) {
  return tuning.curve == "hilbert" ? Curve::hilbert : Curve::morton;
}

}  // namespace kith::core
