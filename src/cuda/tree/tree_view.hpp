// tree_view.hpp: a tree of boxes around points, as kernels see it.
// Layout  a leaf has 32 points, those at positions 32i … of the order; 32 values in a row are one coordinate of all of
//         them, so that a warp reads it at once. Box i of a level covers boxes 32i … of the level below; the boxes of
//         level 0 are those of the leaves. 32 boxes are a group: the least of coordinate c of all of them, then the
//         greatest, then coordinate c + 1. There are no pointers.
// Periods coordinates of points are in the frame of core/periodic_frame.hpp.
#pragma once

#include "core/periodic_frame.hpp"
#include "core/sizes.hpp"
#include "cuda/points/point_rows.hpp"

namespace kith::KITH_BACKEND::tree {

constexpr unsigned kLeafPoints = core::TreeLimits::kLeaf;
static_assert(kLeafPoints == kWarp, "a lane has a point of a leaf");
constexpr unsigned kFanOut = kWarp;
constexpr int kMaxLevels = 6;  // of 2^31 points

template <class F>
struct TreeLevel {
  const F* boxes = nullptr;
  unsigned count = 0;
  // Null, or how many copies with smaller ids each point of a box has at least: from k on, none is among the k nearest
  // of any query.
  const unsigned* copies_before = nullptr;
};

template <class F>
struct TreeView {
  const F* points = nullptr;  // times the scale
  const unsigned* ids = nullptr;
  unsigned count = 0;  // of points
  unsigned dims = 0;
  int levels = 0;
  // A power of two that coordinates were multiplied by, so that their squares stay within the range of F. Where it is
  // not 1 they may have lost digits, and keys come from the points as they were given.
  F scale = 1;
  TreeLevel<F> level[kMaxLevels];
  const core::PeriodicAxis* axes = nullptr;  // null where no axis is periodic, else one for each dimension
  const F* periods = nullptr;                // of these, as walks take them: infinite for axes without

  bool is_periodic() const { return axes != nullptr; }
};

}  // namespace kith::KITH_BACKEND::tree
