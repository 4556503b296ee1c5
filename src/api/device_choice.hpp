// device_choice.hpp: the plan of a search on a device whose method is left open.
#pragma once

#include <functional>

#include "cuda/backend/backend.hpp"
#include "kith/plan.hpp"

namespace kith::api {

// plan_device(), or method triangle where the share of distances that it would compute promises to be faster.
// triangle_share() is called only where a small one would decide.
Plan plan_on_device(const Problem& problem, const Options& options, Backend backend, const DeviceFacts& facts,
                    const std::function<double()>& triangle_share);

}  // namespace kith::api
