// triangle_planner.hpp: plans of method triangle on the CPU.
#pragma once

#include "kith/plan.hpp"
#include "plan/planner.hpp"
#include "plan/triangle_costs.hpp"

namespace kith::plan {

// Throws Error(out_of_memory) when the base's clusters and a query do not fit the budget, Error(invalid_argument) for a
// base of more points than are counted. Fewer queries at a time, then fewer landmarks, then fewer threads make it
// fit.
Plan plan_cpu_triangle(const Problem& problem, const Options& options, const core::CpuFacts& facts,
                       const SurvivingFractions& share = kUsualSurvivors, bool clustered = false);

}  // namespace kith::plan
