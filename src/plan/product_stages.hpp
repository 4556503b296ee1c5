// product_stages.hpp: what distance stages of products ask of points, metric and machine.
#pragma once

#include <string>

#include "core/device_policy.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

// Why a device cannot compute scores by this stage, in words for an error; empty where it can.
std::string why_not(DistanceStage stage, const Problem& problem, const Metric& metric,
                    const core::DeviceHardware& hardware);

// The same of a CPU, memory aside.
std::string why_not_on_cpu(DistanceStage stage, const Problem& problem, const Metric& metric);

}  // namespace kith::plan
