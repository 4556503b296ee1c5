// merge_lists.hpp: lists of neighbors from several shards become one, on the device.
// Idea    a warp has a query, each of its lanes a list. The least of the neighbors at hand goes out, and all lanes that
//         have it move on, so that what several lists hold counts once.
// Cost    lists are read once, up to the last place of the answer; a place takes a comparison across the warp.
// Limits  kMostLists lists.
#pragma once

#include <span>

#include "cuda/runtime/platform.cuh"
#include "kith/shards.hpp"

namespace kith::KITH_BACKEND::graph {

constexpr std::size_t kMostLists = 32;

// Lists and answers are packed rows on the device: those of list i have lists[i].k places. Enqueued on the stream.
template <class F>
void merge_lists(std::span<const NeighborLists<F>> lists, std::int64_t queries, std::int64_t k, const Metric& metric,
                 const NeighborsView<F>& out, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::graph
