// cpu_costs.hpp: how long the CPU takes for a search, by each stage and method.
#pragma once

#include "core/facts.hpp"
#include "core/key.hpp"
#include "core/triangle_sample.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

// Queries of a block: enough that packing and reading the base once per block costs little.
inline constexpr std::int64_t kLargestBlock = 512;
// With fewer queries than this for each thread, the base is split among the threads instead.
inline constexpr std::int64_t kSmallestBlock = 16;
// Queries of a block of a radius search, whose coordinates are held in double too.
inline constexpr std::int64_t kRadiusBlock = 256;

double stage_seconds(DistanceStage stage, const Problem& problem, core::Form form, int threads,
                     const core::CpuFacts& facts);

// Without the time of the neighbors: how many there are nobody knows.
double radius_seconds(DistanceStage stage, const Problem& problem, int threads, const core::CpuFacts& facts);

// Clusters of the base included, unless they are there.
double triangle_seconds(const Problem& problem, const Metric& metric, const TriangleTuning& tuning,
                        const core::SurvivingFractions& survivors, const core::CpuFacts& facts, int threads,
                        bool clustered);

// Leaves that a query visits, of those that n points have: boxes that a ball of k points meets, where points lie evenly
// in so many dimensions.
double visited_leaves(double points, double k, double dimensions);

// The tree included, unless it is there.
double tree_seconds(const Problem& problem, const Metric& metric, double dimensions, const core::CpuFacts& facts,
                    int threads, bool has_tree);

// A sample that tells what method triangle would leave.
double sample_seconds(const Problem& problem, const Metric& metric, std::int64_t landmarks,
                      const core::CpuFacts& facts);

}  // namespace kith::plan
