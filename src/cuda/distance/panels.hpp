// panels.hpp: points transposed for tiles in registers, which read one coordinate of many points at once.
// Layout  a panel has the kPoints points of a tile of register_tiled.cuh: coordinate c of point r is
//         panel[c · kPoints + r], zeros for points that do not exist.
// Cost    kernels that read rows transpose them on their way to shared memory, 4 bytes at a time, and again for every
//         tile of the other set; from panels they copy 16 bytes at a time and check nothing. The base is transposed in
//         parts that fit the cache, each before the kernel that reads it.
#pragma once

#include <algorithm>

#include "cuda/distance/register_tiled.cuh"

namespace kith::KITH_BACKEND::distance {

// Writes ceil(count / kPoints) panels of dims × kPoints values.
template <class F>
void transpose_points(const PointRows<F>& points, std::int64_t dims, F* panels, cudaStream_t stream);

namespace panels {

// Whether there are so many queries that reading and writing the points once more costs little in comparison.
template <class F>
bool are_worthwhile(std::int64_t queries, std::int64_t dims) {
  using Shape = TileShape<F>;
  return packed_tiles<F>(dims) == 1 && queries > 3 * std::int64_t{Shape::kPoints};
}

// Values of the panels of so many points.
template <class F>
std::int64_t values(std::int64_t points, std::int64_t dims) {
  return ceil_div(points, TileShape<F>::kPoints) * TileShape<F>::kPoints * dims;
}

// Points of the base that are transposed at a time. Panels may take an eighth of the workspace's budget; 0 where that
// does not suffice.
template <class F>
std::int64_t part_points(std::int64_t queries, std::int64_t dims, const Workspace& workspace) {
  const auto bytes = [&](std::int64_t points) {
    return values<F>(points, dims) * static_cast<std::int64_t>(sizeof(F));
  };
  const std::int64_t budget =
      workspace.budget() == 0 ? std::int64_t{1} << 40 : static_cast<std::int64_t>(workspace.budget());
  const std::int64_t capacity = budget / 8 - bytes(queries);
  if (capacity <= 0) return 0;
  return std::min(capacity, device_policy().panel_bytes) / bytes(1) * TileShape<F>::kPoints;
}

}  // namespace panels

// Calls part(work, first) for parts of the base, whose points count from `first` on: all of it at once where rows are
// read, else as many points as panels are made of at a time. `bias` is that of plan_tiles().
template <class F, class Part>
void for_each_part(const PointRows<F>& queries, const PointRows<F>& base, std::int64_t dims, const F* bias,
                   Workspace& workspace, const Part& part) {
  const std::int64_t points = panels::are_worthwhile<F>(queries.count, dims)
                                  ? std::min(panels::part_points<F>(queries.count, dims, workspace), base.count)
                                  : 0;
  if (points == 0) return part(plan_tiles(queries, base, dims, bias), std::int64_t{0});
  F* const query_panels = workspace.allocate<F>(static_cast<std::size_t>(panels::values<F>(queries.count, dims)));
  F* const base_panels = workspace.allocate<F>(static_cast<std::size_t>(panels::values<F>(points, dims)));
  transpose_points(queries, dims, query_panels, workspace.stream());
  for (std::int64_t first = 0; first < base.count; first += points) {
    const PointRows<F> some{base.data + first * base.stride, std::min(points, base.count - first), base.stride};
    transpose_points(some, dims, base_panels, workspace.stream());
    TileWork<F> work = plan_tiles(queries, some, dims, bias == nullptr ? nullptr : bias + first);
    work.query_panels = query_panels;
    work.base_panels = base_panels;
    part(work, first);
  }
}

}  // namespace kith::KITH_BACKEND::distance
