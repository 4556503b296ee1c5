// assign.hpp: the nearest center of each point, by scores in working precision.
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/triangle/space.hpp"

namespace kith::KITH_BACKEND::triangle {

// Writes to clusters[i] which of `count` centers, padded rows, is the nearest to point i; the smaller number among
// equals. Rounding may pick another center: that changes the speed of a search, not its answer. NaN scores never win.
// Stored scores take at most `budget` bytes at a time but at least a row (0: no limit). Resets the scratch.
template <class F>
void assign_points(const Space<F>& space, const PointRows<F>& points, const F* centers, std::int64_t count,
                   unsigned* clusters, std::size_t budget, Workspace& scratch);

}  // namespace kith::KITH_BACKEND::triangle
