// parallel.hpp: parallel_for, the one way work is distributed over threads.
#pragma once

#include <cstdint>

#include "cpu/task_ref.hpp"

namespace kith::cpu {

// Calls task(index, worker) for every index below count; the next free worker takes the next index, and worker 0 is the
// calling thread. After an exception no more tasks start, and the exception of the lowest index is rethrown, which is
// deterministic because indices are started in order. Tasks that call BLAS need a SingleThreadedBlas of the caller's.
//
// `threads` is the most that is used: the others come from a pool that all callers share (thread_pool.hpp), and there
// are fewer where the system grants no more. In a task of another parallel_for, everything runs on the calling thread.
void parallel_for(int threads, std::int64_t count, TaskRef task);

}  // namespace kith::cpu
