// tree_radius.cpp: tasks of consecutive queries of an order, each with one list of the hits of all of them.
#include "cpu/tree/tree_radius.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "core/instantiate.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "cpu/sort_hits.hpp"
#include "cpu/tree/query_order.hpp"
#include "cpu/tree/within.hpp"
#include "kith/error.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kRadiusesOfTask = 256;

// The hits of the queries of a task, those of one after those of the other.
template <class F>
struct TaskHits {
  std::vector<std::int64_t> ids;
  std::vector<F> keys;
};

}  // namespace

template <Element T>
std::int64_t tree_radius(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree, const PreparedRows<T>& queries,
                         const Plan& plan, const core::RadiusQuery<DistanceOf<T>>& request,
                         const ProgressCallback& callback, const RadiusLists<DistanceOf<T>>& out) {
  using F = DistanceOf<T>;
  const std::int64_t count = queries.view.rows;
  const std::int64_t tasks = (count + kRadiusesOfTask - 1) / kRadiusesOfTask;
  const QueryOrder<T> order(tree, queries, 0, count, is_base(base, queries), plan.threads);
  std::vector<std::unique_ptr<Within<T>>> workers(static_cast<std::size_t>(plan.threads));
  std::vector<TaskHits<F>> found(request.count_only ? 0 : static_cast<std::size_t>(tasks));
  ProgressMeter progress(callback, count * base.view.rows);
  std::atomic<std::int64_t> all_hits{0};

  parallel_for(plan.threads, tasks, [&](std::int64_t task, int worker) {
    std::unique_ptr<Within<T>>& within = workers[static_cast<std::size_t>(worker)];
    if (within == nullptr) within = std::make_unique<Within<T>>(base, tree, queries);
    std::vector<core::Hit<F>> hits;
    const std::int64_t last = std::min(count, (task + 1) * kRadiusesOfTask);
    for (std::int64_t i = task * kRadiusesOfTask; i < last; ++i) {
      progress.check(worker);
      const std::int64_t query = order[i].query;
      const std::int64_t excluded = request.exclude_self ? query : -1;
      if (request.count_only) {
        out.offsets[query + 1] = within->count(query, request.key_of(query), excluded);
        continue;
      }
      hits.clear();
      within->list(query, request.key_of(query), excluded, hits);
      sort_hits(hits);
      const auto more = static_cast<std::int64_t>(hits.size());
      out.offsets[query + 1] = more;
      if ((all_hits += more) > request.max_hits)
        throw Error(ErrorCode::out_of_memory,
                    fmt::format("more than {} neighbors lie within the radius; free memory holds no more of them",
                                request.max_hits));
      TaskHits<F>& mine = found[static_cast<std::size_t>(task)];
      for (const core::Hit<F>& hit : hits) {
        mine.ids.push_back(hit.id);
        mine.keys.push_back(hit.key);
      }
    }
    progress.add((last - task * kRadiusesOfTask) * base.view.rows, worker);
  });

  out.offsets[0] = 0;
  for (std::int64_t q = 0; q < count; ++q) out.offsets[q + 1] += out.offsets[q];
  if (!request.count_only) {
    const NeighborsView<F> to = out.allocate(out.offsets[count]);
    parallel_for(plan.threads, tasks, [&](std::int64_t task, int) {
      TaskHits<F>& mine = found[static_cast<std::size_t>(task)];
      std::int64_t from = 0;
      const std::int64_t last = std::min(count, (task + 1) * kRadiusesOfTask);
      for (std::int64_t i = task * kRadiusesOfTask; i < last; ++i) {
        const std::int64_t query = order[i].query;
        const std::int64_t hits = out.offsets[query + 1] - out.offsets[query];
        std::copy_n(mine.ids.data() + from, hits, to.ids + out.offsets[query]);
        std::copy_n(mine.keys.data() + from, hits, to.distances + out.offsets[query]);
        from += hits;
      }
      mine = {};
    });
  }
  progress.finish();
  std::int64_t finalists = 0;
  for (const auto& each : workers)
    if (each != nullptr) finalists += each->finalists();
  return finalists;
}

#define KITH_INSTANTIATE(T)                                                                                        \
  template std::int64_t tree_radius(const PreparedRows<T>&, const Tree<DistanceOf<T>>&, const PreparedRows<T>&,    \
                                    const Plan&, const core::RadiusQuery<DistanceOf<T>>&, const ProgressCallback&, \
                                    const RadiusLists<DistanceOf<T>>&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
