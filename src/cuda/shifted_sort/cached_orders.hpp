// cached_orders.hpp: the orders of a base that is searched many times, made by the first search of method shifted-sort.
#pragma once

#include <mutex>
#include <optional>

#include "core/curve_shifts.hpp"
#include "cuda/points/point_store.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/shifted_sort/shifted_sort_search.hpp"
#include "kith/plan.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

inline ShiftedSortWork shifted_sort_work(const Plan& plan) {
  return {plan.metric, plan.problem.k, plan.shifted_sort.window, plan.query_block,
          plan.shifted_sort.merge == CurveMerge::global_memory};
}

inline Sorting sorting_of(const Plan& plan) {
  return plan.shifted_sort.positions == CurvePositions::sort ? Sorting::with_queries : Sorting::once;
}

// Belongs to one base, all of which is on the device and which is always searched with the same shifts. Thread-safe.
template <class F>
class CachedOrders {
 public:
  // The arguments of shifted_sort_search(). For queries that are the base, pass the same store twice. Points must be
  // ready on the workspace's stream.
  ShiftedSortSets<F> sets(const Plan& plan, const PointStore<F>& queries, const PointStore<F>& base,
                          Workspace& workspace) {
    ShiftedSortSets<F> sets;
    sets.queries = queries.exact(0, queries.count()).rows;
    sets.base = base.exact(0, base.count()).rows;
    sets.same = &queries == &base;
    sets.orders = orders(plan, base, workspace.stream());
    return sets;
  }

  // Runs shifted_sort_search() as the plan says.
  void search(const Plan& plan, const PointStore<F>& queries, const PointStore<F>& base,
              const ShiftedSortAnswer<F>& out, Workspace& workspace,
              const std::function<void(std::int64_t)>& on_batch_done) {
    shifted_sort_search(shifted_sort_work(plan), sets(plan, queries, base, workspace), out, workspace, on_batch_done);
  }

  void reduce(const Plan& plan, const PointStore<F>& queries, const PointStore<F>& base,
              const reduce::NeighborReduction<F>& reduction, Workspace& workspace,
              const std::function<void(std::int64_t)>& on_batch_done) {
    shifted_sort_search(shifted_sort_work(plan), sets(plan, queries, base, workspace), reduction, workspace,
                        on_batch_done);
  }

 private:
  // The first caller makes the orders, on a stream of the index; the streams of all callers wait for them.
  CurveOrders<F> orders(const Plan& plan, const PointStore<F>& base, cudaStream_t stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!curve_) {
      stream_.emplace();
      made_.emplace();
      Event ready;
      ready.record(stream);
      ready.wait_on(*stream_);
      Workspace workspace(*stream_, static_cast<std::size_t>(plan.workspace_bytes));
      curve_.emplace(base.exact(0, base.count()).rows, static_cast<int>(base.dims()),
                     core::curve_shifts(plan.shifted_sort), plan.shifted_sort.curve, sorting_of(plan), workspace);
      made_->record(*stream_);
    }
    made_->wait_on(stream);
    return curve_->orders();
  }

  std::mutex mutex_;
  std::optional<Stream> stream_;
  std::optional<Event> made_;
  std::optional<CurveBase<F>> curve_;
};

}  // namespace kith::KITH_BACKEND::shifted_sort
