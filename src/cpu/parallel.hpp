// parallel.hpp: the one way work is spread over threads.
#pragma once

#include <cstdint>
#include <functional>

namespace kith::cpu {

// Calls task(index, worker) for every index below count, the next free worker taking the next index; worker 0 is the
// calling thread. An exception stops the hand-out; that of the lowest index is thrown to the caller (indices go out in
// order, so with several faults it is always the same one). BLAS calls made by a task run on that task's thread alone.
void parallel_for(int threads, std::int64_t count, const std::function<void(std::int64_t index, int worker)>& task);

}  // namespace kith::cpu
