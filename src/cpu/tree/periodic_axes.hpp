// periodic_axes.hpp: the axes of points with periods (core/periodic_frame.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "core/periodic_frame.hpp"
#include "kith/matrix.hpp"

namespace kith::cpu {

// One for each dimension; none where no axis is periodic.
template <Element T>
std::vector<core::PeriodicAxis> periodic_axes(const MatrixView<T>& points, const std::vector<double>& period) {
  std::vector<core::PeriodicAxis> axes;
  if (!core::is_periodic(period)) return axes;
  for (std::int64_t c = 0; c < points.cols; ++c) {
    auto least = static_cast<double>(points(0, c));
    double greatest = least;
    for (std::int64_t r = 1; r < points.rows; ++r) {
      const auto value = static_cast<double>(points(r, c));
      least = value < least ? value : least;
      greatest = value > greatest ? value : greatest;
    }
    axes.push_back(core::periodic_axis(period[static_cast<std::size_t>(c)], least, greatest));
  }
  return axes;
}

}  // namespace kith::cpu
