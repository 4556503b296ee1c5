// cached_clusters.hpp: what an index keeps for method triangle, and from a plan to its search and report.
#pragma once

#include "cuda/triangle/surviving_fraction.hpp"
#include "cuda/triangle/triangle_search.hpp"
#include "kith/plan.hpp"

namespace kith::KITH_BACKEND::triangle {

// What a plan of method triangle would leave of the distances. Queries that are the base are the same store.
template <class F>
double surviving_fraction_of(const Plan& plan, const PointStore<F>& queries, const PointStore<F>& base,
                             cudaStream_t stream) {
  return surviving_fraction(Space<F>(plan.metric, base.dims()), base.working(0, base.count()),
                            queries.working(0, queries.count()), &queries == &base, plan.problem.k,
                            plan.triangle.base_landmarks, static_cast<std::size_t>(plan.workspace_bytes), stream);
}

// Of one base that is on the device as a whole. Thread-safe.
template <class F>
class CachedTriangle {
 public:
  // Queries that are the base are the same store. Keys and ids as triangle_search() has them.
  void search(const Plan& plan, const PointStore<F>& queries, const PointStore<F>& base, F* keys, unsigned* ids,
              Workspace& workspace, const std::function<void(std::int64_t)>& on_batch_done, SearchReport& report) {
    const Space<F> space(plan.metric, base.dims());
    std::vector<TriangleStatistics::Step> steps;
    const Clusters<F>& clusters =
        clusters_.get(space, base.working(0, base.count()), landmarks_of(plan.triangle.base_landmarks, base.count()),
                      static_cast<std::size_t>(plan.workspace_bytes / 4), steps);
    report.plan.triangle.base_landmarks = clusters.count();  // as the first search had it
    const TriangleWork work{plan.metric, plan.problem.k, plan.triangle, plan.select};
    const TriangleSets<F> sets{queries, base, clusters, &queries == &base};
    if (!plan.statistics) {
      triangle_search<F>(work, sets, keys, ids, workspace, on_batch_done, nullptr);
      return;
    }
    report.triangle.emplace();
    report.triangle->steps = std::move(steps);
    report.finalists = triangle_search(work, sets, keys, ids, workspace, on_batch_done, &*report.triangle);
  }

 private:
  CachedClusters<F> clusters_;
};

}  // namespace kith::KITH_BACKEND::triangle
