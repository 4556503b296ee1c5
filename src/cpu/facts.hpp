// facts.hpp: the properties of this CPU that the planner uses.
#pragma once

#include "core/facts.hpp"

namespace kith::cpu {

core::CpuFacts facts();

}  // namespace kith::cpu
