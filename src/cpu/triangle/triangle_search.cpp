// triangle_search.cpp: tasks of queries of one cluster, which share the candidates of level 1, run on all threads.
#include "cpu/triangle/triangle_search.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/instantiate.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "cpu/triangle/block_rows.hpp"
#include "cpu/triangle/candidate_clusters.hpp"
#include "cpu/triangle/interval_scan.hpp"

namespace kith::cpu {
namespace {

using Clock = std::chrono::steady_clock;

// Queries of a task at most, so that threads share a large cluster.
constexpr std::int64_t kQueriesOfTask = 256;

struct ClusterTask {
  std::int64_t cluster;
  std::int64_t first;  // members [first, last) of the cluster
  std::int64_t last;
};

template <class F>
std::vector<ClusterTask> cluster_tasks(const Clusters<F>& query_clusters) {
  std::vector<ClusterTask> tasks;
  for (std::int64_t c = 0; c < query_clusters.count(); ++c)
    for (std::int64_t at = query_clusters.first(c); at < query_clusters.first(c + 1); at += kQueriesOfTask)
      tasks.push_back({c, at, std::min(query_clusters.first(c + 1), at + kQueriesOfTask)});
  return tasks;
}

template <class T>
bool are_same(const MatrixView<T>& a, const MatrixView<T>& b) {
  return a.data == b.data && a.rows == b.rows && a.cols == b.cols && a.row_stride == b.row_stride &&
         a.col_stride == b.col_stride;
}

template <class T>
bool rows_equal(const MatrixView<T>& view, std::int64_t a, std::int64_t b) {
  for (std::int64_t c = 0; c < view.cols; ++c)
    if (!(view(a, c) == view(b, c))) return false;
  return true;
}

// Buffers and counters that a thread keeps from task to task.
template <Element T>
struct TriangleWorker {
  using F = DistanceOf<T>;

  TriangleWorker(const PreparedRows<T>& base, const Clusters<F>& clusters, const PreparedRows<T>& queries,
                 std::int64_t k)
      : candidates(clusters, base.metric, base.scale, k),
        search(base, clusters, queries, k),
        center(static_cast<std::size_t>(clusters.dims)) {}

  CandidateClusters<F> candidates;
  IntervalScan<T> search;
  std::vector<F> center;
  std::int64_t pairs_level_1 = 0;
  std::int64_t cluster_pairs_left = 0;
  double level_1 = 0;
  double level_2 = 0;
};

template <Element T>
class TriangleRun {
 public:
  using F = DistanceOf<T>;

  TriangleRun(const PreparedRows<T>& queries, const Plan& plan, std::int64_t* ids, F* distances)
      : queries_(queries), plan_(plan), ids_(ids), distances_(distances) {}

  // check() is called before each query.
  template <class Check>
  void search_cluster(const Clusters<F>& query_clusters, const ClusterTask& task, TriangleWorker<T>& worker,
                      Check check) const {
    const Clock::time_point start = Clock::now();
    get_row(query_clusters.centers.data(), query_clusters.dims, task.cluster, worker.center.data());
    worker.candidates.find(worker.center.data(), query_clusters.radius(task.cluster));
    worker.pairs_level_1 += (task.last - task.first) * worker.candidates.members();
    if (task.first == query_clusters.first(task.cluster))
      worker.cluster_pairs_left += static_cast<std::int64_t>(worker.candidates.clusters().size());
    const Clock::time_point found = Clock::now();
    for (std::int64_t at = task.first; at < task.last; ++at) {
      check();
      const std::int64_t query = query_clusters.ids[static_cast<std::size_t>(at)];
      if (at > task.first && rows_equal(queries_.view, query, query_clusters.ids[static_cast<std::size_t>(at - 1)])) {
        copy(query_clusters.ids[static_cast<std::size_t>(at - 1)], query);
      } else {
        write(query, worker.search.run(query, worker.candidates));
      }
    }
    worker.level_1 += std::chrono::duration<double>(found - start).count();
    worker.level_2 += std::chrono::duration<double>(Clock::now() - found).count();
  }

 private:
  void write(std::int64_t query, const std::vector<core::Hit<F>>& hits) const {
    std::int64_t* ids = ids_ + query * plan_.problem.k;
    F* distances = distances_ + query * plan_.problem.k;
    for (std::size_t i = 0; i < hits.size(); ++i) {
      ids[i] = hits[i].id;
      distances[i] = core::returned_value(plan_.metric, hits[i].key);
    }
  }

  // Equal queries have equal neighbors.
  void copy(std::int64_t from, std::int64_t to) const {
    const std::int64_t k = plan_.problem.k;
    std::copy_n(ids_ + from * k, k, ids_ + to * k);
    std::copy_n(distances_ + from * k, k, distances_ + to * k);
  }

  const PreparedRows<T>& queries_;
  const Plan& plan_;
  std::int64_t* ids_;
  F* distances_;
};

template <Element T>
void add_counts(const std::vector<std::unique_ptr<TriangleWorker<T>>>& workers, TriangleStatistics& statistics,
                double& level_1, double& level_2) {
  for (const auto& worker : workers) {
    const QueryCounts& counts = worker->search.counts();
    statistics.pairs_level_1 += worker->pairs_level_1;
    statistics.cluster_pairs_left += worker->cluster_pairs_left;
    statistics.clusters_visited += counts.clusters_visited;
    statistics.center_distances += counts.center_distances;
    statistics.distances += counts.distances;
    level_1 += worker->level_1 / static_cast<double>(workers.size());
    level_2 += worker->level_2 / static_cast<double>(workers.size());
  }
}

}  // namespace

template <Element T>
TriangleBase<T> make_triangle_base(const PreparedRows<T>& base, std::int64_t landmarks, int threads,
                                   ProgressMeter& progress) {
  TriangleBase<T> made;
  made.clusters = make_clusters(base, {0, base.view.rows, std::min(landmarks, base.view.rows), true, threads}, progress,
                                made.times);
  return made;
}

template <Element T>
std::int64_t triangle_search(const PreparedRows<T>& base, const TriangleBase<T>& clustered,
                             const PreparedRows<T>& queries, const Plan& plan, const ProgressCallback& callback,
                             std::int64_t* ids, DistanceOf<T>* distances, TriangleStatistics* statistics) {
  using F = DistanceOf<T>;
  const std::int64_t query_count = queries.view.rows;
  const std::int64_t base_count = base.view.rows;
  const bool self = are_same(base.view, queries.view);
  std::vector<std::unique_ptr<TriangleWorker<T>>> workers;
  for (int i = 0; i < plan.threads; ++i)
    workers.push_back(std::make_unique<TriangleWorker<T>>(base, clustered.clusters, queries, plan.problem.k));
  ProgressMeter progress(callback, query_count * base_count);
  const TriangleRun<T> run(queries, plan, ids, distances);
  ClusterTimes query_times;
  std::int64_t query_cluster_count = 0;
  const std::int64_t block = self ? query_count : plan.query_block;
  for (std::int64_t first = 0; first < query_count; first += block) {
    const std::int64_t count = std::min(block, query_count - first);
    Clusters<F> made;
    if (!self)
      made = make_clusters(queries, {first, count, std::min(plan.triangle.query_landmarks, count), false, plan.threads},
                           progress, query_times);
    const Clusters<F>& query_clusters = self ? clustered.clusters : made;
    query_cluster_count += query_clusters.count();
    const std::vector<ClusterTask> tasks = cluster_tasks(query_clusters);
    parallel_for(plan.threads, static_cast<std::int64_t>(tasks.size()), [&](std::int64_t index, int worker) {
      const ClusterTask& task = tasks[static_cast<std::size_t>(index)];
      run.search_cluster(query_clusters, task, *workers[static_cast<std::size_t>(worker)],
                         [&] { progress.check(worker); });
      progress.add((task.last - task.first) * base_count, worker);
    });
  }
  progress.finish();

  std::int64_t finalists = 0;
  for (const auto& worker : workers) finalists += worker->search.counts().finalists;
  if (statistics != nullptr) {
    double level_1 = 0;
    double level_2 = 0;
    statistics->query_clusters = query_cluster_count;
    statistics->base_clusters = clustered.clusters.count();
    statistics->pairs = query_count * base_count;
    add_counts(workers, *statistics, level_1, level_2);
    if (!self) {
      statistics->steps.push_back({"landmarks of queries", query_times.landmarks});
      statistics->steps.push_back({"clusters of queries", query_times.clusters});
    }
    statistics->steps.push_back({"level 1", level_1});
    statistics->steps.push_back({"level 2", level_2});
  }
  return finalists;
}

#define KITH_INSTANTIATE(T)                                                                                     \
  template TriangleBase<T> make_triangle_base(const PreparedRows<T>&, std::int64_t, int, ProgressMeter&);       \
  template std::int64_t triangle_search(const PreparedRows<T>&, const TriangleBase<T>&, const PreparedRows<T>&, \
                                        const Plan&, const ProgressCallback&, std::int64_t*, DistanceOf<T>*,    \
                                        TriangleStatistics*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
