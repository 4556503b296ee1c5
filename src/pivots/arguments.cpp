#include "pivots/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "kith/error.hpp"

namespace kith::pivots {
namespace {

constexpr std::int64_t kUsualPivots = 32;
constexpr std::int64_t kObjectsOfAPivot = 32;
constexpr double kMostRelativeError = 0.1;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

}  // namespace

void check_table(std::int64_t objects, const DistanceProperties& properties, const PivotOptions& options) {
  if (objects < 1) refuse(fmt::format("an index of {} objects; at least one is needed", objects));
  if (!(properties.relative_error >= 0 && properties.relative_error <= kMostRelativeError))
    refuse(fmt::format("relative_error = {}; it must be from 0 to {}", properties.relative_error, kMostRelativeError));
  if (!(properties.absolute_error >= 0 && properties.absolute_error < kInfinity))
    refuse(fmt::format("absolute_error = {}; it must be 0 or more, and finite", properties.absolute_error));
  if (options.threads < 0) refuse(fmt::format("threads = {}; it must be 0 or more", options.threads));
  if (options.pivots < 0 || options.pivots > objects)
    refuse(fmt::format("pivots = {}; of {} objects there can be 0, which is as many as are usual, to {}",
                       options.pivots, objects, objects));
  if (options.pivots > 0 && !properties.triangle_inequality)
    refuse(fmt::format("pivots = {} but the distance has no triangle inequality, without which they say nothing",
                       options.pivots));
}

void check_radii(std::span<const double> radii, std::int64_t queries) {
  const auto count = static_cast<std::int64_t>(radii.size());
  if (count != 1 && count != queries)
    refuse(fmt::format("{} radii for {} queries; there must be one for all or one for each", count, queries));
  for (std::int64_t i = 0; i < count; ++i) {
    const double radius = radii[static_cast<std::size_t>(i)];
    if (!(radius >= 0)) refuse(fmt::format("radius {} is {}; it must be 0 or more", i, radius));
  }
}

std::int64_t pivots_of(std::int64_t objects, const DistanceProperties& properties, const PivotOptions& options) {
  if (!properties.triangle_inequality) return 0;
  if (options.pivots > 0) return options.pivots;
  return std::min(kUsualPivots, objects / kObjectsOfAPivot);
}

}  // namespace kith::pivots
