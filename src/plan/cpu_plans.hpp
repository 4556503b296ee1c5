// cpu_plans.hpp: plans of each method on the CPU. They throw Error(invalid_argument) for options that a method does not
// have, Error(out_of_memory) when no tiling fits.
#pragma once

#include <vector>

#include "core/facts.hpp"
#include "core/triangle_sample.hpp"
#include "kith/plan.hpp"
#include "plan/choose.hpp"

namespace kith::plan {

// A plan that has its problem, metric and budget.
Plan begin_cpu_plan(const Problem& problem, const Options& options, const core::CpuFacts& facts);

// By the method that was asked for; automatic is brute here, since only the data can tell of another. The fastest stage
// that fits what the index has.
Plan plan_cpu(const Problem& problem, const Options& options, const core::CpuFacts& facts, const IndexFacts& index);

// What brute force takes by each stage, the fastest first, tiles and memory aside.
std::vector<Plan::Alternative> brute_alternatives(const Problem& problem, const Options& options,
                                                  const core::CpuFacts& facts);

// Fewer queries at a time, then fewer landmarks, then fewer threads make it fit.
Plan plan_cpu_triangle(const Problem& problem, const Options& options, const core::CpuFacts& facts,
                       const core::SurvivingFractions& survivors = core::kUsualSurvivors, bool clustered = false);

// For data of so many dimensions, as neighborhoods have them: at most those of the points. Fewer queries at a time,
// then fewer threads make it fit.
Plan plan_cpu_tree(const Problem& problem, const Options& options, const core::CpuFacts& facts, double dimensions,
                   bool has_tree);

// `norms` tells whether the base has its norms at hand, without which Euclidean distances come from differences.
Plan plan_cpu_radius(const Problem& problem, const Options& options, const core::CpuFacts& facts, bool norms);

Plan plan_cpu_shifted_sort(const Problem& problem, const Options& options, const core::CpuFacts& facts);

}  // namespace kith::plan
