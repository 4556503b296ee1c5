// panels.hpp: points turned for tiles in registers, which want a coordinate of many points at once.
// A panel has kPoints of register_tiled.cuh's tiles: coordinate c of point r is panel[c · kPoints + r], zeros for
// points that do not exist. Kernels that read rows turn them on their way to shared memory, 4 bytes at a time, and do
// so again for every tile of the other set; turned once, copies have 16 bytes and nothing to check. The base is turned
// in parts that the cache holds, each before the kernel that reads it.
#pragma once

#include <algorithm>

#include "cuda/distance/register_tiled.cuh"

namespace kith::KITH_BACKEND::distance {

// ceil(count / kPoints) panels of dims × kPoints values.
template <class F>
void turn_points(const PointRows<F>& points, std::int64_t dims, F* panels, cudaStream_t stream);

namespace panels {

constexpr std::int64_t kPartBytes = std::int64_t{32} << 20;

// Reading and writing the points once more must weigh little beside what is done with them.
template <class F>
bool pay(std::int64_t queries, std::int64_t dims) {
  using Shape = TileShape<F>;
  return packed_tiles<F>(dims) == 1 && queries > 3 * std::int64_t{Shape::kPoints};
}

// Values of the panels of so many points.
template <class F>
std::int64_t values(std::int64_t points, std::int64_t dims) {
  return ceil_div(points, TileShape<F>::kPoints) * TileShape<F>::kPoints * dims;
}

// Points of the base that are turned at a time; 0 where the workspace has no room: panels take an eighth of it.
template <class F>
std::int64_t part_points(std::int64_t queries, std::int64_t dims, const Workspace& workspace) {
  const auto bytes = [&](std::int64_t points) {
    return values<F>(points, dims) * static_cast<std::int64_t>(sizeof(F));
  };
  const std::int64_t budget =
      workspace.budget() == 0 ? std::int64_t{1} << 40 : static_cast<std::int64_t>(workspace.budget());
  const std::int64_t room = budget / 8 - bytes(queries);
  if (room <= 0) return 0;
  return std::min(room, kPartBytes) / bytes(1) * TileShape<F>::kPoints;
}

}  // namespace panels

// All pairs of two sets as the work of kernels, one after the other: part(work, first) for the base points from `first`
// on. Addends are as plan_tiles() has them.
template <class F, class Part>
void for_each_part(const PointRows<F>& queries, const PointRows<F>& base, std::int64_t dims, const F* bias,
                   Workspace& workspace, const Part& part) {
  const std::int64_t points = panels::pay<F>(queries.count, dims)
                                  ? std::min(panels::part_points<F>(queries.count, dims, workspace), base.count)
                                  : 0;
  if (points == 0) return part(plan_tiles(queries, base, dims, bias), std::int64_t{0});
  F* const query_panels = workspace.allocate<F>(static_cast<std::size_t>(panels::values<F>(queries.count, dims)));
  F* const base_panels = workspace.allocate<F>(static_cast<std::size_t>(panels::values<F>(points, dims)));
  turn_points(queries, dims, query_panels, workspace.stream());
  for (std::int64_t first = 0; first < base.count; first += points) {
    const PointRows<F> some{base.data + first * base.stride, std::min(points, base.count - first), base.stride};
    turn_points(some, dims, base_panels, workspace.stream());
    TileWork<F> work = plan_tiles(queries, some, dims, bias == nullptr ? nullptr : bias + first);
    work.query_panels = query_panels;
    work.base_panels = base_panels;
    part(work, first);
  }
}

}  // namespace kith::KITH_BACKEND::distance
