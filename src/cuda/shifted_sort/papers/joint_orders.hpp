// joint_orders.hpp: queries and points sorted together (Li et al., 3.2). Serves the comparison with their paper; `auto`
// never takes it.
// Idea    one sort a shift puts both in order; a prefix sum counts the points before each entry, which is the index
// that
//         a point moves to, and a query's position.
// Cost    a radix sort of points and queries together, and a pass over both, a shift.
// Memory  the points of all orders; two codes and 12 bytes a point and query while they are sorted.
#pragma once

#include "cuda/shifted_sort/codes.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// Writes points, one order after the other, and positions as find_positions() would: a query comes before points of the
// same code. `orders` has no codes and no points; queries are CurvePoints, fewer than 2^32 together with the points.
template <class F>
void sort_jointly(const CurveOrders<F>& orders, const PointRows<F>& base, const F* queries, std::int64_t count,
                  F* points, unsigned* positions, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::shifted_sort
