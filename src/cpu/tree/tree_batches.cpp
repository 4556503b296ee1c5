#include "cpu/tree/tree_batches.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/instantiate.hpp"
#include "cpu/tree/tree_search.hpp"

namespace kith::cpu {
namespace {

// Rows of a batch, scaled as they ask for, which other batches need not.
template <Element T>
PreparedRows<T> batch_rows(const PreparedRows<T>& rows, core::RowRange range, double scale) {
  PreparedRows<T> part = rows.rows_from(range.first, range.count);
  part.scale = scale;
  return part;
}

// Answers with k_found neighbors a query, whose ids count from the batch's first row.
template <Element T>
std::int64_t search_batch(const PreparedRows<T>& base, const PreparedRows<T>& queries, std::int64_t k_found,
                          bool exclude_self, Plan& plan, const NeighborsView<DistanceOf<T>>& found) {
  plan.problem.base_rows = base.view.rows;
  plan.problem.queries = queries.view.rows;
  plan.problem.k = k_found + (exclude_self ? 1 : 0);
  const ProgressCallback none;
  ProgressMeter making(none, base.view.rows);
  const Tree<DistanceOf<T>> tree = make_tree(base, plan.period, 1, making);
  NearestPool<T> pool;
  return tree_search(base, tree, pool, queries, exclude_self, {}, plan, none, found.ids, found.distances);
}

}  // namespace

template <Element T>
std::int64_t tree_batches(const PreparedRows<T>& base, const PreparedRows<T>& queries, const ListedBatches& asked,
                          const Plan& plan, const ProgressCallback& callback, const NeighborsView<DistanceOf<T>>& out) {
  using D = DistanceOf<T>;
  std::vector<Plan> plans(static_cast<std::size_t>(plan.threads), plan);
  for (Plan& each : plans) each.threads = 1;
  ProgressMeter progress(callback, asked.pairs());
  std::atomic<std::int64_t> finalists{0};
  for_each_batch(asked, plan.threads, [&](core::RowRange rows, core::RowRange mine, int worker) {
    const double scale = score_scale(base.view.rows_from(rows.first, rows.count), base.metric);
    const std::int64_t k_found = std::min(asked.k, rows.count - (asked.exclude_self ? 1 : 0));
    const NeighborsView<D> answer{out.ids + mine.first * asked.k, out.distances + mine.first * asked.k};
    finalists += search_batch(batch_rows(base, rows, scale), batch_rows(queries, mine, scale), k_found,
                              asked.exclude_self, plans[static_cast<std::size_t>(worker)], answer);
    core::spread_answer(plan.metric, k_found, mine.count, rows.first, asked.k, answer);
    progress.add(rows.count * mine.count, worker);
  });
  progress.finish();
  return finalists;
}

#define KITH_INSTANTIATE(T)                                                                                \
  template std::int64_t tree_batches(const PreparedRows<T>&, const PreparedRows<T>&, const ListedBatches&, \
                                     const Plan&, const ProgressCallback&, const NeighborsView<DistanceOf<T>>&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
