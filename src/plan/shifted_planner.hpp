// shifted_planner.hpp: plans of method shifted-sort.
#pragma once

#include "plan/device_planner.hpp"
#include "plan/planner.hpp"

namespace kith::plan {

// Error(invalid_argument) for what the method does not have: metrics, dimensions, stages, values of the tuning.
void check_shifted_sort(const Options& options, std::int64_t dims);

// What plans of all backends share: a checked problem, what its tuning leaves open decided. `paper`: its merge, with k
// candidates on either side.
Plan shifted_plan(const Problem& problem, const Options& options, Backend backend, bool paper);

// As many queries at a time as the budget has room for beside what all of them need; Error(out_of_memory) when that is
// none.
void fit_batch(Plan& plan, std::int64_t fixed_bytes, std::int64_t query_bytes);

// Seconds by what it takes to sort a point and to look at a candidate.
double shifted_seconds(const Plan& plan, double sorted, double candidate);

// Both throw as the functions above, and Error(invalid_argument) for a k or a base that is too large.
Plan plan_cpu_shifted(const Problem& problem, const Options& options, const core::CpuFacts& facts);
Plan plan_device_shifted(const Problem& problem, const Options& options, Backend backend,
                         const core::DeviceFacts& facts);

}  // namespace kith::plan
