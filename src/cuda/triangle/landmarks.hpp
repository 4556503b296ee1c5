// landmarks.hpp: points that clusters form around (Chen et al., section III-A).
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/triangle/space.hpp"

namespace kith::KITH_BACKEND::triangle {

// 3 √points: what the paper found to be good.
std::int64_t default_landmarks(std::int64_t points);

// Numbers of `count` ≤ points.count different points go to `out`: the draw whose points lie farthest apart, of several.
// Draws are random but the same every time, one point from each of `count` equal parts of the set. Rows that are
// compared take no more than `budget` bytes, 0 for no limit.
template <class F>
void choose_landmarks(const Space<F>& space, const PointRows<F>& points, std::int64_t count, unsigned* out,
                      std::size_t budget, Workspace& workspace);

// Rows ids[i] of points, padded to space.width, go to rows i of `out`.
template <class F>
void pad_rows(const Space<F>& space, const PointRows<F>& points, const unsigned* ids, std::int64_t count, F* out,
              cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
