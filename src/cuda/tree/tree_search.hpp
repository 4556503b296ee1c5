// tree_search.hpp: method tree on a device: queries in the order of the points, a warp each (nearest.hpp, within.hpp).
#pragma once

#include <functional>
#include <limits>

#include "cuda/points/point_store.hpp"
#include "cuda/radius/radius_search.hpp"
#include "cuda/tree/tree.hpp"

namespace kith::KITH_BACKEND::tree {

struct TreeWork {
  Metric metric;
  double integer_range = 0;      // of core::ScoreBounds
  std::int64_t query_block = 1;  // queries that are put in order at a time
  double max_distance = std::numeric_limits<double>::infinity();
  double epsilon = 0;
};

// Points that are walked through, and queries: the same store where they are the base.
template <class F>
struct TreeSets {
  const PointStore<F>& queries;
  const PointStore<F>& base;
  const Tree<F>& tree;
  const F* limits = nullptr;  // for each query the largest key that is wanted, on the device; or null

  bool same() const { return &queries == &base; }
};

// Writes k keys and ids a query; NaN and no id of a point where fewer are within max_distance and its limit. Enqueues
// everything on the workspace's stream; on_batch_done(queries) follows each block.
template <class F>
void tree_search(const TreeWork& work, const TreeSets<F>& sets, std::int64_t k, F* keys, unsigned* ids,
                 Workspace& workspace, const std::function<void(std::int64_t)>& on_batch_done);

struct TreeRadiusWork {
  TreeWork work;
  bool count_only = false;
  bool exclude_self = false;
  std::int64_t max_hits = 1;  // that are sorted at a time
};

// Radii are keys on the device, one a query. Parts come in the order of the queries, each with all points; the host
// waits for each.
template <class F>
void tree_radius(const TreeRadiusWork& work, const TreeSets<F>& sets, const F* radii, Workspace& workspace,
                 const radius::RadiusSink<F>& sink);

}  // namespace kith::KITH_BACKEND::tree
