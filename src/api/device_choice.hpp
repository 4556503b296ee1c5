// device_choice.hpp: the plan of a search on a device whose method is left open.
#pragma once

#include <functional>

#include "backend/contract.hpp"
#include "kith/plan.hpp"

namespace kith::api {

// What the planner may ask of the data, both from a few of the queries.
struct DataSamples {
  std::function<double(const Plan&)>
      surviving_fraction;                  // of distances that this plan, of method triangle, would compute
  std::function<bool(const Plan&)> holds;  // whether queries pass the first pass of this plan
};

// plan_device(), or method triangle where the share of distances that it would compute promises to be faster. Points
// that the triangle inequality tells apart may lie too close together for fp16, whose plan is then slower than it
// looks. Questions are asked only where the answer decides.
Plan plan_on_device(const Problem& problem, const Options& options, Backend backend, const DeviceFacts& facts,
                    const DataSamples& ask);

}  // namespace kith::api
