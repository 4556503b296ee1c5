// brute_search.cpp: tasks of a block of queries and a part of the base run on all threads; parts are merged at the end.
#include "cpu/brute/brute_search.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "core/instantiate.hpp"
#include "core/order.hpp"
#include "cpu/brute/brute_task.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "cpu/simd/kernels.hpp"
#include "cpu/single_threaded_blas.hpp"
#include "cpu/sort_hits.hpp"
#include "plan/cpu_threads.hpp"

namespace kith::cpu {
namespace {

template <class D>
void write_hits(const Metric& metric, const std::vector<core::Hit<D>>& hits, std::int64_t* ids, D* distances) {
  for (std::size_t i = 0; i < hits.size(); ++i) {
    ids[i] = hits[i].id;
    distances[i] = core::returned_value(metric, hits[i].key);
  }
}

// Merges the parts' answers to one query.
template <class D>
void merge_parts(const std::vector<const std::vector<core::Hit<D>>*>& parts, std::int64_t k, const Metric& metric,
                 std::int64_t* ids, D* distances) {
  std::vector<core::Hit<D>> all;
  for (const auto* part : parts) all.insert(all.end(), part->begin(), part->end());
  sort_hits(all);
  all.resize(static_cast<std::size_t>(k));
  write_hits(metric, all, ids, distances);
}

}  // namespace

template <Element T>
std::int64_t brute_search(const PreparedRows<T>& base, const PreparedRows<T>& queries, const Plan& plan,
                          const ProgressCallback& callback, std::int64_t* ids, DistanceOf<T>* distances) {
  using F = DistanceOf<T>;
  const std::int64_t query_count = queries.view.rows;
  const std::int64_t base_count = base.view.rows;
  const std::int64_t k = plan.problem.k;
  const std::int64_t blocks = (query_count + plan.query_block - 1) / plan.query_block;
  const std::int64_t splits = plan.base_splits;
  const std::int64_t part_rows = (base_count + splits - 1) / splits;

  std::vector<std::vector<core::Hit<F>>> partial(splits > 1 ? static_cast<std::size_t>(splits * query_count) : 0);
  std::vector<BruteWorkspace<F>> workspaces(static_cast<std::size_t>(plan.threads));
  ProgressMeter progress(callback, query_count * base_count);
  const SingleThreadedBlas blas;
  std::atomic<std::int64_t> finalists{0};

  parallel_for(plan.threads, blocks * splits, [&](std::int64_t index, int worker) {
    const std::int64_t split = index % splits;
    const std::int64_t first_query = index / splits * plan.query_block;
    BasePart part{split * part_rows, 0, plan.base_tile, {}, 0};
    part.count = std::min(base_count - part.first, part_rows);
    if (part.count <= 0) return;
    BruteTask<T> task(base, queries, plan, workspaces[static_cast<std::size_t>(worker)]);
    finalists += task.run(first_query, std::min(plan.query_block, query_count - first_query), part, progress, worker,
                          [&](std::int64_t query, std::vector<core::Hit<F>> hits) {
                            if (splits == 1)
                              return write_hits(plan.metric, hits, ids + query * k, distances + query * k);
                            partial[static_cast<std::size_t>(query * splits + split)] = std::move(hits);
                          });
  });
  if (splits > 1) {
    constexpr double kHitSeconds = 3e-8;
    const int threads = plan::threads_worth(static_cast<double>(query_count * splits * k) * kHitSeconds, plan.threads);
    parallel_for(threads, query_count, [&](std::int64_t query, int) {
      std::vector<const std::vector<core::Hit<F>>*> parts;
      for (std::int64_t split = 0; split < splits; ++split)
        parts.push_back(&partial[static_cast<std::size_t>(query * splits + split)]);
      merge_parts(parts, k, plan.metric, ids + query * k, distances + query * k);
    });
  }
  progress.finish();
  return finalists;
}

#define KITH_INSTANTIATE(T)                                                                       \
  template std::int64_t brute_search(const PreparedRows<T>&, const PreparedRows<T>&, const Plan&, \
                                     const ProgressCallback&, std::int64_t*, DistanceOf<T>*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
