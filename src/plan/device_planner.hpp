// device_planner.hpp: what a search on a device will do, as a pure function of shape, options and device.
#pragma once

#include "core/facts.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

// Bytes of the device that a search may use in all; the base may have half of them.
std::int64_t device_budget(const Options& options, const core::DeviceFacts& facts);

// Whether the base stays on the device; else every search streams it through.
bool is_resident(const Problem& problem, const Options& options, const core::DeviceFacts& facts);

// How many of its points are on the device at a time: all where it stays, else one of the two tiles that share its half
// of the budget.
std::int64_t points_at_once(const Problem& problem, const Options& options, const core::DeviceFacts& facts);

// Error(invalid_argument) where there are more points than a device can number.
void check_base_rows(const Problem& problem);

// Throws Error(invalid_argument) for a stage that cannot do the metric, Error(out_of_memory) when no tiling fits.
Plan plan_device(const Problem& problem, const Options& options, Backend backend, const core::DeviceFacts& facts);

}  // namespace kith::plan
