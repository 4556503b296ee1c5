// tree_search.cpp: tasks of consecutive queries of an order, run on all threads.
#include "cpu/tree/tree_search.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/instantiate.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "cpu/tree/nearest.hpp"
#include "cpu/tree/query_order.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kQueriesOfTask = 512;
constexpr std::int64_t kAhead = 8;  // queries

}  // namespace

template <Element T>
std::int64_t tree_search(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree, const PreparedRows<T>& queries,
                         const Plan& plan, const ProgressCallback& callback, std::int64_t* ids,
                         DistanceOf<T>* distances) {
  using F = DistanceOf<T>;
  const std::int64_t k = plan.problem.k;
  const std::int64_t query_count = queries.view.rows;
  const bool self = is_base(base, queries);
  std::vector<std::unique_ptr<Nearest<T>>> workers(static_cast<std::size_t>(plan.threads));
  ProgressMeter progress(callback, query_count * base.view.rows);
  const std::int64_t block = self ? query_count : plan.query_block;
  for (std::int64_t first = 0; first < query_count; first += block) {
    const std::int64_t count = std::min(block, query_count - first);
    const QueryOrder<T> order(tree, queries, first, count, self, plan.threads);
    parallel_for(plan.threads, (count + kQueriesOfTask - 1) / kQueriesOfTask, [&](std::int64_t task, int worker) {
      std::unique_ptr<Nearest<T>>& nearest = workers[static_cast<std::size_t>(worker)];
      if (nearest == nullptr) nearest = std::make_unique<Nearest<T>>(base, tree, k);
      const std::int64_t last = std::min(count, (task + 1) * kQueriesOfTask);
      for (std::int64_t i = task * kQueriesOfTask; i < last; ++i) {
        progress.check(worker);
        const OrderedQuery each = order[i];
        // The answers of queries that lie together are scattered.
        if (i + kAhead < last) {
          const std::int64_t ahead = order[i + kAhead].query;
          hwy::Prefetch(ids + ahead * k);
          hwy::Prefetch(distances + ahead * k);
          hwy::Prefetch(queries.view.row(ahead));
        }
        const std::vector<core::Hit<F>>& hits = nearest->run(queries, each.query, each.leaf);
        for (std::size_t rank = 0; rank < hits.size(); ++rank) {
          ids[each.query * k + static_cast<std::int64_t>(rank)] = hits[rank].id;
          distances[each.query * k + static_cast<std::int64_t>(rank)] = hits[rank].key;
        }
      }
      progress.add((last - task * kQueriesOfTask) * base.view.rows, worker);
    });
  }
  progress.finish();
  std::int64_t finalists = 0;
  for (const auto& each : workers)
    if (each != nullptr) finalists += each->finalists();
  return finalists;
}

#define KITH_INSTANTIATE(T)                                                                                     \
  template std::int64_t tree_search(const PreparedRows<T>&, const Tree<DistanceOf<T>>&, const PreparedRows<T>&, \
                                    const Plan&, const ProgressCallback&, std::int64_t*, DistanceOf<T>*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
