// triangle_search.hpp: exact search that skips distances by the triangle inequality (Chen et al.: Sweet KNN).
//
// Base and queries are grouped around landmarks (clusters.hpp); level 1 rules out whole clusters for whole clusters
// (level1.hpp), level 2 points for single queries: with windows (windows.hpp), or as the paper does it. What is left
// gets a score, and where that allows it an exact key; the k best by (key, id) need no proof. Bounds are those of
// core/triangle_bounds.hpp.
#pragma once

#include <functional>
#include <string>

#include "cuda/points/point_store.hpp"
#include "cuda/runtime/workspace.hpp"
#include "cuda/triangle/clusters.hpp"
#include "kith/search.hpp"

namespace kith::KITH_BACKEND::triangle {

struct TriangleWork {
  Metric metric;
  std::int64_t k = 1;
  TriangleTuning tuning;
  std::string select = "auto";  // from survivors
};

template <class F>
struct TriangleSets {
  const PointStore<F>& queries;
  const PointStore<F>& base;
  const Clusters<F>& clusters;  // of the base
  bool same;                    // the queries are the base
};

// Everything is enqueued on the workspace's stream. The host waits where the workspace's budget makes it take the
// queries in parts, and between the two passes of partial filtering. `between` is told how many queries are done.
// Keys and ids (32 bits) of the neighbors go to queries.count() × k places each. `statistics`, where they are asked
// for, get all but the steps of the base's clusters; then the host waits for the end, and
// the number of exact keys is returned, else 0.
template <class F>
std::int64_t triangle_search(const TriangleWork& work, const TriangleSets<F>& sets, F* keys, unsigned* ids,
                             Workspace& workspace, const std::function<void(std::int64_t)>& on_batch_done,
                             TriangleStatistics* statistics);

// Landmarks of so many points: what was asked for, or the default, as far as there are points.
std::int64_t landmarks_of(std::int64_t asked, std::int64_t points);

}  // namespace kith::KITH_BACKEND::triangle
