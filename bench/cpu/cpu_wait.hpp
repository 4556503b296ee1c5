// cpu_wait.hpp: whether the machine was ours: how long threads that could have run were kept waiting for a core.
#pragma once

namespace kith::bench {

// Seconds so far that threads of this process stood in line for a core, plus what the hypervisor took from the whole
// machine; differences between two calls have a meaning. 0 where Linux does not tell.
double cpu_wait_seconds();

}  // namespace kith::bench
