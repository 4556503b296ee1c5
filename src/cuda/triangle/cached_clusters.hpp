// cached_clusters.hpp: the clusters of a base that is searched many times, made by the first search of method triangle.
#pragma once

#include <optional>

#include "cuda/runtime/made_once.hpp"
#include "cuda/triangle/surviving_fraction.hpp"
#include "cuda/triangle/triangle_search.hpp"
#include "kith/plan.hpp"

namespace kith::KITH_BACKEND::triangle {

// The fraction of distances that a plan of method triangle would compute. For queries that are the base, pass the same
// store twice.
template <class F>
double surviving_fraction_of(const Plan& plan, const PointStore<F>& queries, const PointStore<F>& base,
                             cudaStream_t stream) {
  return surviving_fraction(Space<F>(plan.metric, base.dims()), base.working(0, base.count()),
                            queries.working(0, queries.count()), &queries == &base, plan.problem.k,
                            plan.triangle.base_landmarks, static_cast<std::size_t>(plan.workspace_bytes), stream);
}

// Belongs to one base, all of which is on the device. Thread-safe.
template <class F>
class CachedClusters {
 public:
  // Runs triangle_search() as the plan says. For queries that are the base, pass the same store twice.
  void search(const Plan& plan, const PointStore<F>& queries, const PointStore<F>& base, F* keys, unsigned* ids,
              Workspace& workspace, const std::function<void(std::int64_t)>& on_batch_done, SearchReport& report) {
    const Space<F> space(plan.metric, base.dims());
    std::vector<TriangleStatistics::Step> steps;
    const Clusters<F>& clusters =
        get(space, base.working(0, base.count()), landmarks_of(plan.triangle.base_landmarks, base.count()),
            static_cast<std::size_t>(plan.workspace_bytes / 4), steps);
    report.plan.triangle.base_landmarks = clusters.count();  // the first search decided it
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
  // Ready when this returns; `steps` gets the time of what was done. The points, which are on the device already, must
  // be the same at every call.
  const Clusters<F>& get(const Space<F>& space, const PointRows<F>& points, std::int64_t landmarks, std::size_t budget,
                         std::vector<TriangleStatistics::Step>& steps) {
    return clusters_.get([&](std::optional<Clusters<F>>& made) {
      StepTimes times(stream_);
      made.emplace(space, points, landmarks, stream_, budget, times.mark());
      steps = times.steps();
    });
  }

  Stream stream_;
  MadeOnce<Clusters<F>> clusters_;
};

}  // namespace kith::KITH_BACKEND::triangle
