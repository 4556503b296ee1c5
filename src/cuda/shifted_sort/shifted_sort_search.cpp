// shifted_sort_search.cpp: batches of queries get their positions in all orders, and are searched.
#include "cuda/shifted_sort/shifted_sort_search.hpp"

#include <algorithm>

#include "core/key.hpp"
#include "cuda/shifted_sort/certify_rows.hpp"
#include "cuda/shifted_sort/curve_point.cuh"
#include "cuda/shifted_sort/curve_search.hpp"
#include "cuda/shifted_sort/curve_search_lists.hpp"
#include "cuda/shifted_sort/papers/global_merge.hpp"
#include "cuda/shifted_sort/papers/joint_orders.hpp"

namespace kith::KITH_BACKEND::shifted_sort {
namespace {

// Returns the queries of a batch sorted along the curve, as CurvePoints; ids count from the batch's first.
template <class F>
const F* ordered_queries(const PointRows<F>& rows, const CurveOrders<F>& orders, Workspace& workspace) {
  const int words = core::code_shape(orders.dims).words;
  auto* codes = workspace.allocate<std::uint64_t>(as_size(rows.count * words));
  auto* ids = workspace.allocate<unsigned>(as_size(rows.count));
  auto* points = workspace.allocate<F>(as_size(rows.count * curve_width(orders.dims)));
  order_points(rows, orders.frame, orders.dims, 0, codes, ids, workspace);
  gather_points(rows, orders.dims, ids, points, workspace.stream());
  return points;
}

// Calls run(search, row) for each batch; `row` is the first row of its answer.
template <class F, class Run>
void for_each_batch(const ShiftedSortWork& work, const ShiftedSortSets<F>& sets, Workspace& workspace,
                    const std::function<void(std::int64_t)>& on_batch_done, Run run) {
  CurveSearch<F> search;
  search.orders = sets.orders;
  search.base = sets.base;
  search.k = static_cast<unsigned>(work.k);
  search.window = static_cast<unsigned>(work.window);
  search.form = core::form_of(work.metric);
  search.root = core::effective_kind(work.metric) == MetricKind::euclidean;
  const bool joint = sets.orders.points == nullptr;
  const bool in_base_order = sets.same && !joint;  // queries are sorted already: they are the base
  const std::int64_t width = curve_width(sets.orders.dims);
  for (std::int64_t first = 0; first < sets.queries.count; first += work.query_block) {
    workspace.reset();
    search.count = std::min(work.query_block, sets.queries.count - first);
    if (in_base_order) {
      search.queries = sets.orders.points + first * width;
    } else {
      const PointRows<F> batch{sets.queries.data + first * sets.queries.stride, search.count, sets.queries.stride};
      search.queries = ordered_queries(batch, sets.orders, workspace);
    }
    auto* positions = workspace.allocate<unsigned>(as_size(search.count * sets.orders.shifts));
    if (joint) {
      auto* points = workspace.allocate<F>(as_size(sets.base.count * width * sets.orders.shifts));
      sort_jointly(sets.orders, sets.base, search.queries, search.count, points, positions, workspace);
      search.orders.points = points;
    } else {
      find_positions(sets.orders, search.queries, search.count, positions, workspace.stream());
    }
    search.positions = positions;
    // Ids of the base's order are rows of the whole answer; ids of a batch count from its first.
    run(search, in_base_order ? 0 : first);
    on_batch_done(search.count);
  }
}

}  // namespace

template <class F>
void shifted_sort_search(const ShiftedSortWork& work, const ShiftedSortSets<F>& sets, const ShiftedSortAnswer<F>& out,
                         Workspace& workspace, const std::function<void(std::int64_t)>& on_batch_done) {
  for_each_batch(work, sets, workspace, on_batch_done, [&](const CurveSearch<F>& search, std::int64_t row) {
    F* const keys = out.keys + row * work.k;
    std::int64_t* const ids = out.ids + row * work.k;
    if (work.global_merge)
      global_merge_search(search, keys, ids, workspace);
    else
      curve_search_lists(search, keys, ids, workspace.stream());
    if (out.certified == nullptr) return;
    CurveSearch<F> looked_at = search;
    if (work.global_merge) looked_at.window = search.k;
    certify_rows<F>(looked_at, work.metric, {keys, ids, out.certified + row}, workspace.stream());
  });
}

template <class F>
void shifted_sort_search(const ShiftedSortWork& work, const ShiftedSortSets<F>& sets,
                         const reduce::NeighborReduction<F>& reduction, Workspace& workspace,
                         const std::function<void(std::int64_t)>& on_batch_done) {
  for_each_batch(work, sets, workspace, on_batch_done, [&](const CurveSearch<F>& search, std::int64_t row) {
    reduce::NeighborReduction<F> batch = reduction;
    batch.out += row * core::reduced_columns(reduction.what);
    curve_search_reduced(search, batch, workspace.stream());
  });
}

#define KITH_INSTANTIATE(F)                                                                                         \
  template void shifted_sort_search(const ShiftedSortWork&, const ShiftedSortSets<F>&, const ShiftedSortAnswer<F>&, \
                                    Workspace&, const std::function<void(std::int64_t)>&);                          \
  template void shifted_sort_search(const ShiftedSortWork&, const ShiftedSortSets<F>&,                              \
                                    const reduce::NeighborReduction<F>&, Workspace&,                                \
                                    const std::function<void(std::int64_t)>&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::shifted_sort
