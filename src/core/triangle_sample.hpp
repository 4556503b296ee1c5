// triangle_sample.hpp: sizes of the sample that estimates how many distances method triangle would compute.
#pragma once

#include <cstdint>

namespace kith::core {

inline constexpr std::int64_t kSamplePoints = 8192;
inline constexpr std::int64_t kSampleQueries = 48;
// A device finds landmarks for fewer of the points, and draws fewer landmarks: finding them costs the most.
inline constexpr std::int64_t kSampleMembers = 2048;
inline constexpr std::int64_t kSampleLandmarks = 4096;

}  // namespace kith::core
