// curve_shifts.hpp: shifts of a ShiftedSortTuning.
#pragma once

#include <algorithm>

#include "core/curve.hpp"
#include "kith/options.hpp"

namespace kith::core {

// Extent of the points' longest side: 0.75 beside small shifts (Li et al., 3.1). The shifts of Chan's lemma, which
// guarantee the error, together go as far as the points, so that each gets half of the cube.
inline constexpr double kMaxExtent = 0.75;
inline constexpr double kGuaranteedExtent = 0.5;

inline CurveShifts curve_shifts(const ShiftedSortTuning& tuning) {
  const double extent = 1 - (tuning.shifts - 1) * tuning.shift;
  return {tuning.shifts, tuning.shift, tuning.guaranteed ? kGuaranteedExtent : std::min(kMaxExtent, extent)};
}

}  // namespace kith::core
