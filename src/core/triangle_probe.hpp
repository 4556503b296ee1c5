// triangle_probe.hpp: what is looked at to learn how much of a search the triangle inequality would leave.
#pragma once

#include <cstdint>

namespace kith::core {

inline constexpr std::int64_t kProbePoints = 8192;
inline constexpr std::int64_t kProbeQueries = 48;
// On a device, where landmarks cost the most: points that get one, and landmarks.
inline constexpr std::int64_t kProbeMembers = 2048;
inline constexpr std::int64_t kProbeLandmarks = 4096;

}  // namespace kith::core
