// planner.hpp: what to do, as a pure function of the problem's shape, the options and the machine.
#pragma once

#include <cstdint>

#include "core/facts.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

// Bytes that a search may use.
std::int64_t cpu_budget(const Options& options, const core::CpuFacts& facts);

// Throws Error(invalid_argument) for a stage that cannot do the metric, Error(out_of_memory) when no tiling fits.
// Method automatic is brute here: only the data can tell of another, which this function does not see.
Plan plan_cpu(const Problem& problem, const Options& options, const core::CpuFacts& facts);

}  // namespace kith::plan
