// brute_batches.hpp: the k nearest of every query among the points of its batch, for batches of few points.
// Idea    a batch is a part of the base and a block of queries, so it is a task of brute force. Rows were checked, and
//         norms made, for all batches at once; ids are those of the whole base.
#pragma once

#include <cstdint>

#include "cpu/listed_batches.hpp"
#include "cpu/prepared_rows.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"

namespace kith::cpu {

// Writes the answers to the queries of the listed batches; places without a neighbor are marked. The plan has one
// neighbor more where queries exclude themselves. Returns the number of exact keys.
template <Element T>
std::int64_t brute_batches(const PreparedRows<T>& base, const PreparedRows<T>& queries, const ListedBatches& asked,
                           const Plan& plan, const ProgressCallback& callback, const NeighborsView<DistanceOf<T>>& out);

}  // namespace kith::cpu
