// radius_planner.hpp: how a radius search will be done by the CPU.
#pragma once

#include "kith/options.hpp"
#include "kith/plan.hpp"
#include "plan/planner.hpp"

namespace kith::plan {

// problem.k is 0: nobody knows how many there will be. `norms` tells whether the base has its norms at hand, without
// which Euclidean distances come from differences. Throws Error(invalid_argument) for a method or stage that a radius
// search does not have, Error(out_of_memory) when no tiling fits.
Plan plan_cpu_radius(const Problem& problem, const Options& options, const core::CpuFacts& facts, bool norms);

}  // namespace kith::plan
