// declared_properties.hpp: what is declared of a metric, looked into with a few points.
#pragma once

#include <cstdint>

#include "kith/pivots.hpp"

namespace kith::custom {

// Evaluates all pairs of some of the objects, which are queries too, and throws Error(bad_data) where one is negative,
// not symmetric or longer than the way by a third object. Returns how many were evaluated.
std::int64_t check_declared(const PairSource& source, std::int64_t objects, const DistanceProperties& properties);

}  // namespace kith::custom
