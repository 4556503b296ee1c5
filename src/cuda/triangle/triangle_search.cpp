// triangle_search.cpp: the host's side of method triangle: batches of queries that fit the budget pass level 1 and one
// of the forms of level 2.
#include "cuda/triangle/triangle_search.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include "core/limit.hpp"
#include "cuda/runtime/platform.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/triangle/interval_scan.hpp"
#include "cuda/triangle/landmarks.hpp"
#include "cuda/triangle/papers/sweet_knn.hpp"

namespace kith::KITH_BACKEND::triangle {
namespace {

// Warps that share a query: as many as it takes to keep the multiprocessors busy.
unsigned interval_scan_warps(const TriangleTuning& tuning, std::int64_t queries) {
  if (tuning.threads_per_query > 0)
    return std::bit_ceil(static_cast<unsigned>(ceil_div(tuning.threads_per_query, kWarp)));
  const std::int64_t wanted =
      multiprocessor_count() * device_policy().scan_warps_each / std::max<std::int64_t>(queries, 1);
  return std::bit_floor(static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, kMaxIntervalScanWarps)));
}

template <class F>
ExactKeySource<F> source_of(const TriangleWork& work, const Space<F>& space, const PointStore<F>& queries,
                            const PointStore<F>& base, std::int64_t first_query, std::int64_t query_count) {
  ExactKeySource<F> source;
  source.metric = work.metric;
  source.form = core::form_of(work.metric);
  source.directions = space.directions;
  source.dims = space.dims;
  source.queries = queries.exact(first_query, query_count);
  source.base = base.exact(0, base.count());
  return source;
}

template <class F>
class TriangleSearch {
 public:
  TriangleSearch(const TriangleWork& work, const TriangleSets<F>& sets, F* keys, unsigned* ids, Workspace& workspace,
                 TriangleStatistics* statistics)
      : work_(work),
        sets_(sets),
        space_(work.metric, sets.base.dims()),
        keys_(keys),
        ids_(ids),
        workspace_(workspace),
        statistics_(statistics) {
    if (is_sweet_knn())
      sweet_knn_ = sweet_knn_options(work.tuning, work.k, 2 * sizeof(F), sets.base.count(), sets.clusters.count());
    else
      require_within("method triangle, form interval-scan", "threads_per_query", work.tuning.threads_per_query, 0,
                     core::kMaxIntervalScanThreads);
    if (statistics_ == nullptr) return;
    times_ = std::make_unique<StepTimes>(workspace.stream());
    mark_ = times_->mark();
    counters_ = DeviceBuffer<TriangleCounters>(kCounterSlots, workspace.stream());
    KITH_CUDA(cudaMemsetAsync(counters_.data(), 0, kCounterSlots * sizeof(TriangleCounters), workspace.stream()));
  }

  // Returns the number of exact keys, where they were counted.
  std::int64_t run(const std::function<void(std::int64_t)>& on_batch_done) {
    if (sets_.same) {
      search_clusters(sets_.clusters, 0, on_batch_done);
    } else {
      const std::int64_t all = sets_.queries.count();
      const std::int64_t batch = queries_at_once();
      for (std::int64_t first = 0; first < all; first += batch) {
        const std::int64_t count = std::min(batch, all - first);
        workspace_.clear();
        const Clusters<F> clusters(space_, sets_.queries.working(first, count),
                                   landmarks_of(work_.tuning.query_landmarks, count), workspace_.stream(),
                                   workspace_.budget() / 4, mark_of_queries());
        query_clusters_ += clusters.count();
        search_clusters(clusters, first, on_batch_done);
      }
    }
    if (statistics_ != nullptr) report();
    return finalists_;
  }

 private:
  // Distinguishes the steps from those of the base's clusters, which have the same names.
  StepMark mark_of_queries() const {
    if (!mark_) return {};
    return [this](const std::string& step) { mark_(step + " of queries"); };
  }

  bool is_sweet_knn() const { return work_.tuning.form == TriangleForm::sweet_knn; }

  // Clustered queries take half of the budget, levels 1 and 2 the other half.
  std::int64_t queries_at_once() const {
    if (workspace_.budget() == 0) return sets_.queries.count();
    const std::int64_t bytes = Clusters<F>::point_bytes(space_) + Clusters<F>::scratch_bytes();
    return std::clamp<std::int64_t>(half_budget() / bytes, 1, sets_.queries.count());
  }
  std::int64_t half_budget() const { return static_cast<std::int64_t>(workspace_.budget() / 2); }

  // The clusters are those of the queries from `first` on.
  void search_clusters(const Clusters<F>& queries, std::int64_t first,
                       const std::function<void(std::int64_t)>& on_batch_done) {
    const std::int64_t row = CandidateClusters::row_bytes(sets_.clusters.count());
    const std::int64_t part_clusters = workspace_.budget() == 0
                                           ? queries.count()
                                           : std::clamp<std::int64_t>(half_budget() / 2 / row, 1, queries.count());
    const std::vector<unsigned> offsets = part_offsets(queries, part_clusters);
    for (std::int64_t begin = 0, part = 0; begin < queries.count(); begin += part_clusters, ++part) {
      workspace_.reset();
      const std::int64_t clusters = std::min(part_clusters, queries.count() - begin);
      QueryBatch<F> batch{space_,
                          queries.view(),
                          sets_.clusters.view(),
                          source_of(work_, space_, sets_.queries, sets_.base, first, queries.points()),
                          {},
                          offsets[as_size(part)],
                          offsets[as_size(part + 1)] - offsets[as_size(part)],
                          static_cast<unsigned>(work_.k),
                          keys_ + first * work_.k,
                          ids_ + first * work_.k,
                          counters_.data()};
      batch.candidates =
          find_candidate_clusters(space_, batch.queries, batch.base, batch.k, static_cast<unsigned>(begin),
                                  static_cast<unsigned>(clusters), counters_.data(), workspace_);
      if (mark_) mark_("level 1");
      search_queries(batch, queries.points());
      if (mark_) mark_("level 2");
      on_batch_done(batch.count);
    }
  }

  // The first query of each part of `part_clusters` clusters, and the number of queries; copied from the device where
  // there are several parts.
  std::vector<unsigned> part_offsets(const Clusters<F>& queries, std::int64_t part_clusters) const {
    if (part_clusters >= queries.count()) return {0, static_cast<unsigned>(queries.points())};
    std::vector<unsigned> all(as_size(queries.count() + 1));
    KITH_CUDA(cudaMemcpyAsync(all.data(), queries.view().offsets, all.size() * sizeof(unsigned), cudaMemcpyDeviceToHost,
                              workspace_.stream()));
    KITH_CUDA(cudaStreamSynchronize(workspace_.stream()));
    std::vector<unsigned> offsets;
    for (std::int64_t c = 0; c < queries.count(); c += part_clusters) offsets.push_back(all[as_size(c)]);
    offsets.push_back(all.back());
    return offsets;
  }

  void search_queries(const QueryBatch<F>& batch, std::int64_t all_queries) {
    if (batch.count == 0) return;
    cudaStream_t stream = workspace_.stream();
    if (is_sweet_knn())
      return search_sweet_knn(batch, all_queries, sweet_knn_, work_.select, workspace_.budget() / 4, stream);
    if (batch.k <= kMaxIntervalScanK<F>)
      return interval_scan(batch, interval_scan_warps(work_.tuning, batch.count), stream);
    search_survivors<F>(
        batch,
        [stream](const QueryBatch<F>& part, const Survivors<F>& survivors) {
          store_interval_scan(part, survivors, stream);
        },
        work_.select, workspace_.budget() / 4, stream);
  }

  void report() {
    std::vector<TriangleCounters> counters(kCounterSlots);
    KITH_CUDA(cudaMemcpyAsync(counters.data(), counters_.data(), counters.size() * sizeof(TriangleCounters),
                              cudaMemcpyDeviceToHost, workspace_.stream()));
    KITH_CUDA(cudaStreamSynchronize(workspace_.stream()));
    TriangleStatistics& out = *statistics_;
    out.query_clusters = sets_.same ? sets_.clusters.count() : query_clusters_;
    out.base_clusters = sets_.clusters.count();
    out.pairs = sets_.queries.count() * sets_.base.count();
    for (const TriangleCounters& part : counters) {
      out.pairs_level_1 += static_cast<std::int64_t>(part.pairs_level_1);
      out.cluster_pairs_left += static_cast<std::int64_t>(part.cluster_pairs_left);
      out.clusters_visited += static_cast<std::int64_t>(part.clusters_visited);
      out.center_distances += static_cast<std::int64_t>(part.center_distances);
      out.distances += static_cast<std::int64_t>(part.distances);
      finalists_ += static_cast<std::int64_t>(part.keys);
    }
    for (const TriangleStatistics::Step& step : times_->steps()) StepTimes::add_step(out.steps, step);
  }

  const TriangleWork& work_;
  const TriangleSets<F>& sets_;
  Space<F> space_;
  F* keys_;
  unsigned* ids_;
  Workspace& workspace_;
  TriangleStatistics* statistics_;
  std::unique_ptr<StepTimes> times_;
  StepMark mark_;
  SweetKnnOptions sweet_knn_;
  DeviceBuffer<TriangleCounters> counters_;
  std::int64_t query_clusters_ = 0;
  std::int64_t finalists_ = 0;
};

}  // namespace

std::int64_t landmarks_of(std::int64_t asked, std::int64_t points) {
  return std::min(asked > 0 ? asked : default_landmarks(points), points);
}

template <class F>
std::int64_t triangle_search(const TriangleWork& work, const TriangleSets<F>& sets, F* keys, unsigned* ids,
                             Workspace& workspace, const std::function<void(std::int64_t)>& on_batch_done,
                             TriangleStatistics* statistics) {
  return TriangleSearch<F>(work, sets, keys, ids, workspace, statistics).run(on_batch_done);
}

#define KITH_INSTANTIATE(F)                                                                                     \
  template std::int64_t triangle_search(const TriangleWork&, const TriangleSets<F>&, F*, unsigned*, Workspace&, \
                                        const std::function<void(std::int64_t)>&, TriangleStatistics*);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
