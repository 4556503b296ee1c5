// sample_plan.hpp: plans a sample of scores whose `rank`-th smallest is a limit that slightly more than `width` of all
// scores do not exceed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

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

// Adds rank and capacity to a sample of `count` scores. The rank is one that the samples among the `width` smallest
// scores, a Poisson variable, almost never reach, so that at least `width` scores pass. The capacity almost always
// suffices. Everything passes where the sample would be most of the scores.
inline void rank_sample(SamplePlan& plan, std::int64_t count, std::int64_t width) {
  const double sampled_fraction = static_cast<double>(plan.samples) / static_cast<double>(count);
  const std::int64_t rank = poisson_quantile(static_cast<double>(width) * sampled_fraction);
  const double max_passing = static_cast<double>(rank) + 6 * (std::sqrt(static_cast<double>(rank)) + 2);
  const double capacity = std::ceil(max_passing / sampled_fraction);
  if (plan.step >= 2 && rank < plan.samples && capacity < static_cast<double>(count)) {
    plan.rank = rank;
    plan.capacity = static_cast<std::int64_t>(capacity);
  } else {
    plan.rank = 0;
    plan.capacity = count;
  }
}

// For scores of the sample that are stored.
inline SamplePlan plan_sample(std::int64_t count, std::int64_t width) {
  constexpr std::int64_t kSampleFraction = 32;
  constexpr std::int64_t kMinSamples = 1024;
  constexpr std::int64_t kMaxSamples = 32768;
  SamplePlan plan;
  plan.samples = std::clamp(count / kSampleFraction, kMinSamples, kMaxSamples);
  plan.step = count / plan.samples;
  rank_sample(plan, count, width);
  return plan;
}

// For a sample of which only the best scores of groups are stored (cuda/tensor/): it costs as much as so many pairs of
// the pass, and a larger one lets fewer scores pass, each of which costs as much as some hundred pairs of few
// dimensions.
inline SamplePlan plan_grouped_sample(std::int64_t count, std::int64_t width, std::int64_t dims) {
  constexpr std::int64_t kMaxStep = 64;
  constexpr std::int64_t kMinSamples = 1024;
  constexpr double kPassingDims = 32000;
  constexpr std::int64_t kFewDims = 64;  // no pair costs less
  const double passing_pairs = kPassingDims / static_cast<double>(std::max(dims, kFewDims));
  SamplePlan best;
  best.samples = count;
  best.capacity = count;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t step = kMaxStep; step >= 2; step -= step > 16 ? 8 : step > 4 ? 2 : 1) {
    SamplePlan plan;
    plan.step = step;
    plan.samples = count / step;
    if (plan.samples < kMinSamples) continue;
    rank_sample(plan, count, width);
    if (plan.rank == 0) continue;
    const double cost =
        static_cast<double>(plan.samples) + passing_pairs * static_cast<double>(plan.rank) * static_cast<double>(step);
    if (cost >= least) continue;
    least = cost;
    best = plan;
  }
  return best;
}

// Room for the candidates of a query whose limit is a proof (Plan::Pass::bounded).
constexpr std::int64_t bounded_capacity(std::int64_t k) {
  return std::max<std::int64_t>(2048, 2 * k);
}

}  // namespace kith::core
