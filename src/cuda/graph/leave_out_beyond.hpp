// leave_out_beyond.hpp: neighbors beyond a distance become places without one, on the device: id −1 and an infinite
// distance, as core/max_distance.hpp has it. Cost: the lists are read once, and written where that is so.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::graph {

// `count` places of lists whose values are distances.
template <class F>
void leave_out_beyond(F* distances, std::int64_t* ids, std::int64_t count, F largest, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::graph
