// landmarks.hpp: the points that become centers of clusters (Chen et al. Sweet KNN, section III-A).
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/triangle/space.hpp"

namespace kith::KITH_BACKEND::triangle {

// 3 √points, as Chen et al. recommend.
std::int64_t default_landmarks(std::int64_t points);

// Writes the ids of `count` ≤ points.count different points to `out`: of several draws, the one whose points lie
// farthest apart. Draws are random but the same every time, one point from each of `count` equal parts of the set.
// Compared rows take at most `budget` bytes, 0 for no limit.
template <class F>
void choose_landmarks(const Space<F>& space, const PointRows<F>& points, std::int64_t count, unsigned* out,
                      std::size_t budget, Workspace& workspace);

// Copies rows ids[i] of points, padded to space.width, to rows i of `out`.
template <class F>
void pad_rows(const Space<F>& space, const PointRows<F>& points, const unsigned* ids, std::int64_t count, F* out,
              cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
