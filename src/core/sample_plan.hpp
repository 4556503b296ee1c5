// sample_plan.hpp: plans a sample of scores whose `rank`-th smallest is a limit that slightly more than `width` of all
// scores do not exceed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kith::core {

struct SamplePlan {
  std::int64_t samples = 0;
  std::int64_t step = 1;      // from one sample to the next
  std::int64_t rank = 0;      // of the sample that is the limit; 0: everything passes
  std::int64_t capacity = 0;  // scores that pass, at most
};

// The least r that a Poisson variable of mean `expected` reaches with a probability of at most 10⁻⁵.
inline std::int64_t poisson_quantile(double expected) {
  constexpr double kChance = 1e-5;
  if (expected > 500)  // e^−expected would underflow; the distribution is close to a normal one
    return static_cast<std::int64_t>(std::ceil(expected + 5 * std::sqrt(expected)));
  double chance = std::exp(-expected);
  double below = 0;  // probability of fewer than r
  std::int64_t r = 0;
  while (1 - below > kChance) {
    below += chance;
    ++r;
    chance *= expected / static_cast<double>(r);
  }
  return r;
}

// The rank is one that the samples among the `width` smallest scores, a Poisson variable, almost never reach, so that
// at least `width` scores pass. The capacity almost always suffices. Without effect where the sample would be most of
// the scores.
inline SamplePlan plan_sample(std::int64_t count, std::int64_t width) {
  constexpr std::int64_t kSampleFraction = 32;
  constexpr std::int64_t kMinSamples = 1024;
  constexpr std::int64_t kMaxSamples = 32768;
  SamplePlan plan;
  plan.samples = std::clamp(count / kSampleFraction, kMinSamples, kMaxSamples);
  plan.step = count / plan.samples;
  const double sampled_fraction = static_cast<double>(plan.samples) / static_cast<double>(count);
  const std::int64_t rank = poisson_quantile(static_cast<double>(width) * sampled_fraction);
  const double max_passing = static_cast<double>(rank) + 6 * (std::sqrt(static_cast<double>(rank)) + 2);
  const double capacity = std::ceil(max_passing / sampled_fraction);
  if (plan.step >= 2 && rank < plan.samples && capacity < static_cast<double>(count)) {
    plan.rank = rank;
    plan.capacity = static_cast<std::int64_t>(capacity);
  } else {
    plan.capacity = count;
  }
  return plan;
}

}  // namespace kith::core
