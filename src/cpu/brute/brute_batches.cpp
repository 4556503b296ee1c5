#include "cpu/brute/brute_batches.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/instantiate.hpp"
#include "core/max_distance.hpp"
#include "cpu/brute/brute_task.hpp"
#include "cpu/single_threaded_blas.hpp"

namespace kith::cpu {
namespace {

// Leaves the query itself out where queries exclude themselves: hits are then one more, and the last one goes where it
// is not among them. So do hits beyond the largest distance that is wanted.
template <class D>
void write_answer(const ListedBatches& asked, const Plan& plan, std::int64_t query,
                  const std::vector<core::Hit<D>>& hits, const NeighborsView<D>& out) {
  const bool has_max = std::isfinite(plan.max_distance);
  const D largest = core::largest_within<D>(plan.max_distance);
  const std::int64_t first = query * asked.k;
  std::int64_t found = 0;
  for (const core::Hit<D>& hit : hits) {
    if (asked.exclude_self && hit.id == query) continue;
    if (found == asked.k || (has_max && !(hit.key <= largest))) break;
    out.ids[first + found] = hit.id;
    out.distances[first + found++] = core::returned_value(plan.metric, hit.key);
  }
  core::mark_missing(plan.metric, out, first + found, asked.k - found);
}

}  // namespace

template <Element T>
std::int64_t brute_batches(const PreparedRows<T>& base, const PreparedRows<T>& queries, const ListedBatches& asked,
                           const Plan& plan, const ProgressCallback& callback,
                           const NeighborsView<DistanceOf<T>>& out) {
  using F = DistanceOf<T>;
  std::vector<BruteWorkspace<F>> workspaces(static_cast<std::size_t>(plan.threads));
  ProgressMeter progress(callback, asked.pairs());
  const SingleThreadedBlas blas;
  std::atomic<std::int64_t> finalists{0};
  const auto emit = [&](std::int64_t query, const std::vector<core::Hit<F>>& hits) {
    write_answer(asked, plan, query, hits, out);
  };
  for_each_batch(asked, plan.threads, [&](core::RowRange rows, core::RowRange mine, int worker) {
    BruteTask<T> task(base, queries, plan, workspaces[static_cast<std::size_t>(worker)]);
    const std::int64_t tile = std::min(plan.base_tile, rows.count);
    for (std::int64_t done = 0; done < mine.count; done += plan.query_block)
      finalists += task.run(mine.first + done, std::min(plan.query_block, mine.count - done),
                            {rows.first, rows.count, tile, {}, 0}, progress, worker, emit);
  });
  progress.finish();
  return finalists;
}

#define KITH_INSTANTIATE(T)                                                                                 \
  template std::int64_t brute_batches(const PreparedRows<T>&, const PreparedRows<T>&, const ListedBatches&, \
                                      const Plan&, const ProgressCallback&, const NeighborsView<DistanceOf<T>>&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
