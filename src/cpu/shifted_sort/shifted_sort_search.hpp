// shifted_sort_search.hpp: approximate search by sorting shifted points along a space-filling curve (Li et al., kANN on
// the GPU with shifted sorting), with the answer of cuda/shifted_sort.
// Cost    2 · window candidates a query and shift, and a binary search for its position.
// Limits  1 to 16 dimensions, fewer than 2^31 base rows, metrics of the forms squared, absolute and maximum.
#pragma once

#include "cpu/shifted_sort/curve_base.hpp"
#include "kith/plan.hpp"
#include "kith/search.hpp"

namespace kith::cpu {

// Searches as the plan says: k ids and distances a query, sorted by (distance, id), and where `out` has room for them
// flags of rows that are proven to be exact. Returns the number of exact keys of rows.
template <Element T>
std::int64_t shifted_sort_search(const PreparedRows<T>& base, const CurveBase<T>& orders,
                                 const PreparedRows<T>& queries, const Plan& plan, const ProgressCallback& callback,
                                 const NeighborsView<DistanceOf<T>>& out);

}  // namespace kith::cpu
