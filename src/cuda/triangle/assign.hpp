// assign.hpp: the nearest center of each point.
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/triangle/space.hpp"

namespace kith::KITH_BACKEND::triangle {

// Centers are padded rows, `count` of them. The number of the nearest one, by scores in working precision and the
// smaller number among equals, goes to clusters[i]: which one it is decides how fast a search is, not what it finds.
// Scores that are not numbers are never the smallest. Those that are stored take no more than `budget` bytes at a time,
// or a row of them (0: as many as are of use). The scratch is reset.
template <class F>
void assign_points(const Space<F>& space, const PointRows<F>& points, const F* centers, std::int64_t count,
                   unsigned* clusters, std::size_t budget, Workspace& scratch);

}  // namespace kith::KITH_BACKEND::triangle
