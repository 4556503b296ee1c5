// device_radius.hpp: how a radius search will be done on a device.
#pragma once

#include "core/facts.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

// problem.k is 0. A list of query_block × candidates pairs holds what a tile's scores cannot rule out; tiles for which
// it is too small are cut. Throws Error(invalid_argument) for a method or stage that a radius search does not have,
// Error(out_of_memory) when nothing fits.
Plan plan_device_radius(const Problem& problem, const Options& options, Backend backend,
                        const core::DeviceFacts& facts);

}  // namespace kith::plan
