// sample_plan.hpp: a limit that a little more than `width` of `count` scores do not pass, from every so-many-th of
// them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kith::core {

struct SamplePlan {
  std::int64_t samples = 0;
  std::int64_t step = 1;  // from one sample to the next
  std::int64_t rank = 0;  // of the sample that is the limit; 0: everything passes
  std::int64_t room = 0;  // for what passes
};

// Fewer than `width` is next to impossible, and so is more than there is room for. Without use where the sample would
// be most of it.
inline SamplePlan plan_sample(std::int64_t count, std::int64_t width) {
  constexpr std::int64_t kShare = 128;
  constexpr std::int64_t kLeast = 1024;
  constexpr std::int64_t kMost = 8192;
  SamplePlan plan;
  plan.samples = std::clamp(count / kShare, kLeast, kMost);
  plan.step = count / plan.samples;
  const double share = static_cast<double>(plan.samples) / static_cast<double>(count);
  const double expected = static_cast<double>(width) * share;
  const double rank = std::ceil(expected + 4.5 * std::sqrt(expected) + 5);
  const double room = std::ceil((rank + 6 * (std::sqrt(rank) + 2)) / share);
  if (plan.step >= 2 && rank < static_cast<double>(plan.samples) && room < static_cast<double>(count)) {
    plan.rank = static_cast<std::int64_t>(rank);
    plan.room = static_cast<std::int64_t>(room);
  } else {
    plan.room = count;
  }
  return plan;
}

}  // namespace kith::core
