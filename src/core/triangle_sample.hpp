// triangle_sample.hpp: what is looked at to learn how much of a search the triangle inequality would leave.
#pragma once

#include <cstdint>

namespace kith::core {

inline constexpr std::int64_t kSamplePoints = 8192;
inline constexpr std::int64_t kSampleQueries = 48;
// On a device, where landmarks cost the most: points that get one, and landmarks.
inline constexpr std::int64_t kSampleMembers = 2048;
inline constexpr std::int64_t kSampleLandmarks = 4096;

}  // namespace kith::core
