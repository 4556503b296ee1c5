// sphere_mapping.hpp: latitudes and longitudes in radians as points of the unit sphere, whose chords grow with angles.
#pragma once

#include <memory>

#include "custom/row_mapping.hpp"

namespace kith::custom {

// For haversine as named_metric.cpp computes it.
std::shared_ptr<const RowMapping> sphere_mapping();

}  // namespace kith::custom
