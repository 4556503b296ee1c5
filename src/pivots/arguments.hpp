// arguments.hpp: what is checked before anything is evaluated, and what follows from it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "kith/pivots.hpp"

namespace kith::pivots {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
// What an evaluation is taken to cost when threads are counted out.
inline constexpr double kSecondsEach = 1e-6;

// These throw Error(invalid_argument).
void check_table(std::int64_t objects, const DistanceProperties& properties, const PivotOptions& options);
void check_radii(std::span<const double> radii, std::int64_t queries);

// How many pivots an index is given, if there are so many different objects.
std::int64_t pivots_of(std::int64_t objects, const DistanceProperties& properties, const PivotOptions& options);

}  // namespace kith::pivots
