// tree_batches.hpp: the k nearest of every query among the points of its batch, by a tree for each batch.
// Idea    a thread makes the tree of a batch and takes its queries through it: batches are too small to be shared.
#pragma once

#include <cstdint>

#include "cpu/listed_batches.hpp"
#include "cpu/prepared_rows.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"

namespace kith::cpu {

// Writes the answers to the queries of the listed batches; places without a neighbor are marked. The plan is that of a
// search of one batch, the largest, but for its threads, which are those of all. Returns the number of exact keys.
template <Element T>
std::int64_t tree_batches(const PreparedRows<T>& base, const PreparedRows<T>& queries, const ListedBatches& asked,
                          const Plan& plan, const ProgressCallback& callback, const NeighborsView<DistanceOf<T>>& out);

}  // namespace kith::cpu
