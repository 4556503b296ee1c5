// triangle_sample.hpp: sizes of the sample that estimates how many distances method triangle would compute.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kith::core {

// What method triangle leaves: of the data, not of its shape, and so estimated from a sample.
struct SurvivingFractions {
  double points = 1;      // of pairs of a query and a point: distances that are computed
  double clusters = 1;    // of pairs of a query and a cluster: those that are looked at
  double dimensions = 0;  // that the points fill near the queries, 0 where nobody has looked
};

// Where no data is at hand: what is left of data with structure.
inline constexpr SurvivingFractions kUsualSurvivors{0.005, 0.03};

// On a CPU a sample must cost less than a small search.
inline constexpr std::int64_t kCpuSampleQueries = 8;
inline std::int64_t cpu_sample_points(std::int64_t points) {
  return std::min(points, std::clamp<std::int64_t>(points / 4, 256, 2048));
}

// On a device.
inline constexpr std::int64_t kSamplePoints = 8192;
inline constexpr std::int64_t kSampleQueries = 48;
// Landmarks are found for fewer of the points, and fewer landmarks are drawn: finding them costs the most.
inline constexpr std::int64_t kSampleMembers = 2048;
inline constexpr std::int64_t kSampleLandmarks = 4096;

}  // namespace kith::core
