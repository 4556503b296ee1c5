// device_planner.hpp: what a search on a device will do, as a pure function of shape, options and device.
#pragma once

#include "cuda/backend/backend.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

// Bytes of the device that a search may use in all; the base may have half of them.
std::int64_t device_budget(const Options& options, const DeviceFacts& facts);

// Whether the base stays on the device; else every search streams it through.
bool is_resident(const Problem& problem, const Options& options, const DeviceFacts& facts);

// Throws Error(invalid_argument) for a stage that cannot do the metric, Error(out_of_memory) when no tiling fits.
Plan plan_device(const Problem& problem, const Options& options, Backend backend, const DeviceFacts& facts);

}  // namespace kith::plan
