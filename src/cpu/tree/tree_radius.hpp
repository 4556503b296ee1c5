// tree_radius.hpp: all base points within each query's radius, or their number, by a tree of boxes.
// Idea    a query walks through the boxes that its radius meets (simd/tree_walk.hpp); exact keys decide. Counting adds
//         up boxes whose farthest corner is provably within, and points likewise: keys are computed only where scores
//         cannot tell.
// Limits  those of tree_search.hpp.
#pragma once

#include "core/radius_query.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/tree/tree.hpp"
#include "kith/plan.hpp"
#include "kith/radius.hpp"

namespace kith::cpu {

// Into lists of the host. Throws Error(out_of_memory) when there are more than max_hits. Returns how many exact keys
// were computed.
template <Element T>
std::int64_t tree_radius(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree, const PreparedRows<T>& queries,
                         const Plan& plan, const core::RadiusQuery<DistanceOf<T>>& request,
                         const ProgressCallback& callback, const RadiusLists<DistanceOf<T>>& out);

}  // namespace kith::cpu
