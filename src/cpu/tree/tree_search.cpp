// tree_search.cpp: tasks of consecutive queries of an order, run on all threads.
#include "cpu/tree/tree_search.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/instantiate.hpp"
#include "core/max_distance.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "cpu/tree/query_order.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kMostOfTask = 512;  // queries
constexpr std::int64_t kTasksOfThread = 8;
constexpr std::int64_t kAhead = 8;  // queries

template <class T>
bool queries_equal(const MatrixView<T>& view, std::int64_t a, std::int64_t b) {
  for (std::int64_t c = 0; c < view.cols; ++c)
    if (!(view(a, c) == view(b, c))) return false;
  return true;
}

// The answers to queries, as rows of k. They are scattered where queries lie together.
template <class F>
struct Answers {
  void prefetch(std::int64_t query) const {
    hwy::Prefetch(ids + query * k);
    hwy::Prefetch(distances + query * k);
  }
  // Leaves the query out where queries exclude themselves: hits are then one more, and the last one goes where it is
  // not among them. Places that hits are too few for stay without a neighbor.
  void write(std::int64_t query, const std::vector<core::Hit<F>>& hits) const {
    std::int64_t* const to_ids = ids + query * k;
    F* const to_distances = distances + query * k;
    const core::Hit<F>* from = hits.data();
    const core::Hit<F>* const end = from + hits.size();
    std::int64_t i = 0;
    for (; i < k && from != end; ++from) {
      if (exclude_self && from->id == query) continue;
      to_ids[i] = from->id;
      to_distances[i++] = from->key;
    }
    for (; i < k; ++i) {
      to_ids[i] = core::kNoNeighbor;
      to_distances[i] = std::numeric_limits<F>::infinity();
    }
  }

  std::int64_t k;
  bool exclude_self;
  std::int64_t* ids;
  F* distances;
};

// The search of each worker that has had a task; that of worker 0, which may be the only one, takes no memory here.
template <Element T>
class Workers {
 public:
  Workers(int threads, NearestPool<T>& pool) : pool_(pool), others_(static_cast<std::size_t>(threads - 1)) {}

  Nearest<T>& search_of(int worker, const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree, const Plan& plan) {
    std::unique_ptr<Nearest<T>>& nearest = worker == 0 ? first_ : others_[static_cast<std::size_t>(worker - 1)];
    if (nearest == nullptr) nearest = pool_.take(base, tree, Wanted(plan));
    return *nearest;
  }

  // Gives all of them back, and returns the number of their exact keys.
  std::int64_t finish(std::int64_t k) {
    std::int64_t finalists = give_back(std::move(first_), k);
    for (std::unique_ptr<Nearest<T>>& each : others_) finalists += give_back(std::move(each), k);
    return finalists;
  }

 private:
  std::int64_t give_back(std::unique_ptr<Nearest<T>> nearest, std::int64_t k) {
    if (nearest == nullptr) return 0;
    const std::int64_t finalists = nearest->finalists();
    pool_.give_back(std::move(nearest), k);
    return finalists;
  }

  NearestPool<T>& pool_;
  std::unique_ptr<Nearest<T>> first_;
  std::vector<std::unique_ptr<Nearest<T>>> others_;
};

// Queries first … last − 1 of an order. Equal queries that follow each other are answered once. check() is called
// before each.
template <Element T, class Check>
void answer(const PreparedRows<T>& queries, std::span<const DistanceOf<T>> limits, const QueryOrder<T>& order,
            std::int64_t first, std::int64_t last, Nearest<T>& nearest, const Answers<DistanceOf<T>>& answers,
            Check check) {
  using F = DistanceOf<T>;
  const std::vector<core::Hit<F>>* hits = nullptr;
  F limit = std::numeric_limits<F>::infinity();
  for (std::int64_t i = first; i < last; ++i) {
    check();
    if (i + kAhead < last) {
      const std::int64_t ahead = order[i + kAhead].query;
      answers.prefetch(ahead);
      hwy::Prefetch(queries.view.row(ahead));
    }
    const OrderedQuery each = order[i];
    const F before = limit;
    if (!limits.empty()) limit = limits[static_cast<std::size_t>(each.query)];
    if (hits == nullptr || limit != before || !queries_equal(queries.view, each.query, order[i - 1].query))
      hits = &nearest.run(queries, each.query, each.leaf, limit);
    answers.write(each.query, *hits);
  }
}

}  // namespace

template <Element T>
std::int64_t tree_search(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree, NearestPool<T>& pool,
                         const PreparedRows<T>& queries, bool exclude_self, std::span<const DistanceOf<T>> limits,
                         const Plan& plan, const ProgressCallback& callback, std::int64_t* ids,
                         DistanceOf<T>* distances) {
  const std::int64_t k = plan.problem.k;
  const std::int64_t query_count = queries.view.rows;
  const bool self = is_base(base, queries);
  const Answers<DistanceOf<T>> answers{exclude_self ? k - 1 : k, exclude_self, ids, distances};
  Workers<T> workers(plan.threads, pool);
  ProgressMeter progress(callback, query_count * base.view.rows);
  const std::int64_t block = self ? query_count : plan.query_block;
  for (std::int64_t begin = 0; begin < query_count; begin += block) {
    const std::int64_t count = std::min(block, query_count - begin);
    const QueryOrder<T> order(tree, queries, begin, count, self, plan.threads);
    const std::int64_t of_task = std::clamp<std::int64_t>(count / (kTasksOfThread * plan.threads), 1, kMostOfTask);
    parallel_for(plan.threads, (count + of_task - 1) / of_task, [&](std::int64_t task, int worker) {
      Nearest<T>& nearest = workers.search_of(worker, base, tree, plan);
      const std::int64_t first = task * of_task;
      const std::int64_t last = std::min(count, first + of_task);
      answer(queries, limits, order, first, last, nearest, answers, [&] { progress.check(worker); });
      progress.add((last - first) * base.view.rows, worker);
    });
  }
  progress.finish();
  return workers.finish(k);
}

#define KITH_INSTANTIATE(T)                                                                                    \
  template std::int64_t tree_search(const PreparedRows<T>&, const Tree<DistanceOf<T>>&, NearestPool<T>&,       \
                                    const PreparedRows<T>&, bool, std::span<const DistanceOf<T>>, const Plan&, \
                                    const ProgressCallback&, std::int64_t*, DistanceOf<T>*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
