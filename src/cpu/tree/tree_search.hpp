// tree_search.hpp: exact search by a tree of boxes, for points of few dimensions.
// Idea    a query walks through the tree, the nearest boxes first, and passes over those that its k-th neighbor so far
//         proves too far (nearest.hpp). Queries are taken in the order of the leaves that they fall into, so that
//         neighbors of one are in the cache for the next, and begin with that leaf; queries that are the base itself
//         have that order already. A few queries are taken as they come.
// Cost    the tree once a base; then a few leaves a query in two or three dimensions, ever more in many.
// Limits  metrics that add up or maximize magnitudes of differences; fewer than 2^32 points.
#pragma once

#include <cstdint>
#include <span>

#include "cpu/prepared_rows.hpp"
#include "cpu/tree/nearest.hpp"
#include "cpu/tree/tree.hpp"
#include "kith/plan.hpp"

namespace kith::cpu {

// Searches as the plan says: plan.query_block queries are put in order at a time. Where queries, which are the base,
// exclude themselves, they get one neighbor less than the plan has. Neighbors beyond plan.max_distance are left out,
// and those beyond `limits`, one for each query, where there are some. Returns the number of exact keys.
template <Element T>
std::int64_t tree_search(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree, NearestPool<T>& pool,
                         const PreparedRows<T>& queries, bool exclude_self, std::span<const DistanceOf<T>> limits,
                         const Plan& plan, const ProgressCallback& callback, std::int64_t* ids,
                         DistanceOf<T>* distances);

}  // namespace kith::cpu
