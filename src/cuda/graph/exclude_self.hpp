// exclude_self.hpp: from the k + 1 nearest of every point among all, the k nearest others, on the device.
// The rule is that of core/exclude_self.hpp. Cost: the lists are read once and written once, a warp a list.
#pragma once

#include "cuda/runtime/platform.cuh"
#include "kith/metric.hpp"

namespace kith::KITH_BACKEND::graph {

// Lists of k + 1 keys and ids for points 0 … points − 1 become answers of k distances and ids. Id is unsigned or
// std::int64_t.
template <class F, class Id>
void exclude_self(const Metric& metric, const F* keys, const Id* found, std::int64_t points, std::int64_t k,
                  F* distances, std::int64_t* ids, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::graph
