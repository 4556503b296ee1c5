// fork.hpp: threads do not survive a fork, and OpenMP waits for them for ever. In a child of a process that has used
// several, work is done by one thread.
#pragma once

#include "kith/options.hpp"

namespace kith::python {

// How many forks lie between this process and the first that loaded the module.
int fork_generation();

// The options with as many threads as this process can have. Throws Error(invalid_argument) when more were asked for.
Options after_fork(Options options);
int threads_after_fork(int threads);

}  // namespace kith::python
