// tree.hpp: a base as a tree of boxes (tree_view.hpp), made on the device.
// Idea    points that were split along their widest axes (split_order.hpp) are leaves, 32 at a time; boxes around 32
//         leaves, around 32 of these, … are made by a warp each.
// Cost    the order, and a pass over the points; the host waits once, for what is unusual about them: coordinates whose
//         squares overflow, copies of one point. Then parts are made again. With periodic axes it waits once more, for
//         where the points lie along them.
// Memory  a copy of the points, 4 bytes a point for ids, 2 · dims values a leaf for boxes.
#pragma once

#include <vector>

#include "cuda/runtime/workspace.hpp"
#include "cuda/tree/tree_view.hpp"
#include "kith/metric.hpp"

namespace kith::KITH_BACKEND::tree {

template <class F>
class Tree {
 public:
  // On the workspace's stream, to which the tree belongs. `period` as in Options.
  Tree(const PointRows<F>& rows, std::int64_t dims, const Metric& metric, const std::vector<double>& period,
       Workspace& workspace);

  const TreeView<F>& view() const { return view_; }

 private:
  void allocate_levels(cudaStream_t stream);
  // Points lie at `placed`, and were given as `rows`.
  void fill(const PointRows<F>& rows, const PointRows<F>& placed, F scale, cudaStream_t stream);
  void put_axes(std::vector<core::PeriodicAxis> axes, cudaStream_t stream);
  double largest_coordinate(cudaStream_t stream) const;
  void count_copies(const PointRows<F>& rows, Workspace& workspace);
  F* boxes_of(int level) { return boxes_.data() + box_offsets_[level]; }

  DeviceBuffer<unsigned> ids_;
  DeviceBuffer<F> points_;
  DeviceBuffer<F> boxes_;
  DeviceBuffer<unsigned> copies_before_;       // empty where no leaf is full of copies
  DeviceBuffer<unsigned> is_copies_;           // one a leaf: 32 copies of one point
  std::vector<core::PeriodicAxis> host_axes_;  // stay until they are copied
  std::vector<F> host_periods_;
  DeviceBuffer<core::PeriodicAxis> axes_;
  DeviceBuffer<F> periods_;
  std::size_t box_offsets_[kMaxLevels] = {};
  TreeView<F> view_;
};

}  // namespace kith::KITH_BACKEND::tree
