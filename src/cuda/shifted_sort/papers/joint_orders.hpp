// joint_orders.hpp: queries and points sorted together (Li et al., 3.2): one sort a shift puts both in order, a prefix
// sum says how many points come before each entry; to there the points are moved, without the queries, and what it says
// of a query is the query's place.
// Cost    a radix sort of points and queries together, and a pass over both, a shift.
// Memory  the points of all orders; of a point and of a query two codes and 12 bytes while they are sorted.
#pragma once

#include "cuda/shifted_sort/codes.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// Fills in points, one order after the other, and places as find_places() would: a query comes before points of the
// same code. `orders` has no codes and no points; queries are CurvePoints, fewer than 2^32 together with the points.
template <class F>
void sort_together(const CurveOrders<F>& orders, const PointRows<F>& base, const F* queries, std::int64_t count,
                   F* points, unsigned* places, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::shifted_sort
