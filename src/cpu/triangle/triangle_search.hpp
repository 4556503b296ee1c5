// triangle_search.hpp: exact search that skips most distances by the triangle inequality (Chen et al. Sweet KNN).
// Idea    base and queries are grouped around landmarks (clusters.hpp); level 1 rules out base clusters for whole query
//         clusters (candidate_clusters.hpp), level 2 points for single queries (interval_scan.hpp).
// Cost    rows × landmarks distances for the clusters, once a base; then, for data with structure, little.
// Limits  metrics with a triangle inequality; fewer than 2^32 base rows.
#pragma once

#include <cstdint>

#include "cpu/prepared_rows.hpp"
#include "cpu/triangle/clusters.hpp"
#include "kith/plan.hpp"
#include "kith/search.hpp"

namespace kith::cpu {

// The clusters of a base, and the time it took to make them.
template <Element T>
struct TriangleBase {
  Clusters<DistanceOf<T>> clusters;
  ClusterTimes times;
};

template <Element T>
TriangleBase<T> make_triangle_base(const PreparedRows<T>& base, std::int64_t landmarks, int threads,
                                   ProgressMeter& progress);

// Searches as the plan says: plan.query_block queries are clustered at a time; queries that are the base itself use its
// clusters. Returns the number of exact keys; `statistics` may be null, and its steps are added to.
template <Element T>
std::int64_t triangle_search(const PreparedRows<T>& base, const TriangleBase<T>& clustered,
                             const PreparedRows<T>& queries, const Plan& plan, const ProgressCallback& callback,
                             std::int64_t* ids, DistanceOf<T>* distances, TriangleStatistics* statistics);

}  // namespace kith::cpu
