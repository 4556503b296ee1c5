// triangle_search.hpp: exact search that skips distances by the triangle inequality (Chen et al. Sweet KNN).
// Idea    base and queries are grouped around landmarks (clusters.hpp). Level 1 rules out base clusters for whole query
//         clusters (candidate_clusters.hpp), level 2 points for single queries (interval_scan.hpp, or
//         papers/sweet_knn.hpp for comparison with Chen et al.). Points that are left get a score and, where the score
//         allows it, an exact key. Bounds cover all roundings (core/triangle_bounds.hpp), so the k best by (key, id)
//         need no proof.
// Limits  metrics with a triangle inequality.
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
  SelectMethod select = SelectMethod::automatic;  // the method that selects from survivors
};

template <class F>
struct TriangleSets {
  const PointStore<F>& queries;
  const PointStore<F>& base;
  const Clusters<F>& clusters;  // of the base
  bool same;                    // the queries are the base
};

// Enqueues everything on the workspace's stream. The host waits where the budget splits the queries into parts, and
// between the two passes of stored survivors. `on_batch_done` gets the number of queries of each batch. Keys and ids
// (32 bits) are queries.count() × k each. `statistics`, unless null, get all but the steps of the base's clusters; then
// the host waits for the end, and the number of exact keys is returned, else 0.
template <class F>
std::int64_t triangle_search(const TriangleWork& work, const TriangleSets<F>& sets, F* keys, unsigned* ids,
                             Workspace& workspace, const std::function<void(std::int64_t)>& on_batch_done,
                             TriangleStatistics* statistics);

// `asked` landmarks, or the default for 0, but no more than there are points.
std::int64_t landmarks_of(std::int64_t asked, std::int64_t points);

}  // namespace kith::KITH_BACKEND::triangle
