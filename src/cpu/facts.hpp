// facts.hpp: what the planner is told of this CPU.
#pragma once

#include "core/facts.hpp"

namespace kith::cpu {

core::CpuFacts facts();

}  // namespace kith::cpu
