// facts.hpp: the properties of this CPU that the planner uses.
#pragma once

#include "core/facts.hpp"

namespace kith::cpu {

// With the threads of the process, whichever of its threads asks.
core::CpuFacts facts();

// For work that has no plan: the threads that were asked for, or, where that is 0, as many as the calling thread may
// use and the seconds of one thread are worth.
int threads_for(int asked, double seconds);

}  // namespace kith::cpu
