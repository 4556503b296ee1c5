// sample_plan.hpp: a limit that a little more than `width` of `count` scores do not pass, from every so-many-th of
// them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kith::core {

struct SamplePlan {
  std::int64_t samples = 0;
  std::int64_t step = 1;      // from one sample to the next
  std::int64_t rank = 0;      // of the sample that is the limit; 0: everything passes
  std::int64_t capacity = 0;  // for what passes
};

// The least r such that a number of rare events, `expected` on average (Poisson's distribution), reaches r with a
// chance of at most 10⁻⁵.
inline std::int64_t rarely_reached(double expected) {
  constexpr double kChance = 1e-5;
  if (expected > 500)  // where e^−expected would vanish, and the distribution is a normal one
    return static_cast<std::int64_t>(std::ceil(expected + 5 * std::sqrt(expected)));
  double chance = std::exp(-expected);
  double below = 0;  // the chance of fewer than r
  std::int64_t r = 0;
  while (1 - below > kChance) {
    below += chance;
    ++r;
    chance *= expected / static_cast<double>(r);
  }
  return r;
}

// The limit is that sample which fewer than `width` scores almost never reach: they have `expected` samples among them
// on average. Room is for what almost always passes. Without use where the sample would be most of the scores.
inline SamplePlan plan_sample(std::int64_t count, std::int64_t width) {
  constexpr std::int64_t kShare = 32;
  constexpr std::int64_t kLeast = 1024;
  constexpr std::int64_t kMost = 32768;
  SamplePlan plan;
  plan.samples = std::clamp(count / kShare, kLeast, kMost);
  plan.step = count / plan.samples;
  const double share = static_cast<double>(plan.samples) / static_cast<double>(count);
  const std::int64_t rank = rarely_reached(static_cast<double>(width) * share);
  const double most = static_cast<double>(rank) + 6 * (std::sqrt(static_cast<double>(rank)) + 2);
  const double capacity = std::ceil(most / share);
  if (plan.step >= 2 && rank < plan.samples && capacity < static_cast<double>(count)) {
    plan.rank = rank;
    plan.capacity = static_cast<std::int64_t>(capacity);
  } else {
    plan.capacity = count;
  }
  return plan;
}

}  // namespace kith::core
