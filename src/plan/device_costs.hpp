// device_costs.hpp: how long a search takes on a device, by each distance stage.
#pragma once

#include <string>

#include "core/facts.hpp"
#include "core/key.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

// From so many dimensions on, squares come from products: one instruction a coordinate and one for the norm, not two.
inline constexpr std::int64_t kExpandFromOnDevice = 8;

struct DeviceStageCost {
  double seconds = 0;
  bool fused = false;
};

// Stages that need not store their scores.
bool can_fuse(const std::string& stage);

// The stage's time in the given form of search; for stages that can be fused, `either` takes the faster.
enum class FusedWish { no, yes, either };
DeviceStageCost stage_cost(const core::DeviceProfile& costs, const std::string& stage, const Problem& problem,
                           core::Form form, std::int64_t candidates, FusedWish wish);

// Of a radius search, without the time of its neighbors: how many there are nobody knows.
double radius_seconds(const core::DeviceProfile& costs, const Problem& problem, core::Form form);

}  // namespace kith::plan
