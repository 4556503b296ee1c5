#include "cuda/shifted_sort/shifted_sort.hpp"

#include <algorithm>

#include "core/key.hpp"
#include "cuda/shifted_sort/curve_point.cuh"
#include "cuda/shifted_sort/curve_search.hpp"
#include "cuda/shifted_sort/frame.hpp"
#include "cuda/shifted_sort/near_lists.hpp"
#include "cuda/shifted_sort/papers/global_merge.hpp"
#include "cuda/shifted_sort/papers/joint_orders.hpp"

namespace kith::KITH_BACKEND::shifted_sort {
namespace {

// Queries in the order of the curve, as CurvePoints whose ids count from the batch's first.
template <class F>
const F* ordered_queries(const PointRows<F>& rows, const CurveOrders<F>& orders, Workspace& workspace) {
  const int words = core::code_shape(orders.dims).words;
  auto* codes = workspace.take<std::uint64_t>(as_size(rows.count * words));
  auto* ids = workspace.take<unsigned>(as_size(rows.count));
  auto* points = workspace.take<F>(as_size(rows.count * curve_width(orders.dims)));
  order_points(rows, orders.frame, orders.dims, 0, codes, ids, workspace);
  gather_points(rows, orders.dims, ids, points, workspace.stream());
  return points;
}

}  // namespace

template <class F>
CurveBase<F>::CurveBase(const PointRows<F>& rows, int dims, const core::CurveShifts& shifts, core::Curve curve,
                        Sorting sorting, Workspace& workspace)
    : count_(rows.count),
      dims_(dims),
      shifts_(shifts.count),
      frame_(1, workspace.stream()),
      codes_(as_size(sorting == Sorting::once ? rows.count * core::code_shape(dims).words * shifts.count : 0),
             workspace.stream()),
      points_(as_size(sorting == Sorting::once ? rows.count * curve_width(dims) * shifts.count : 0),
              workspace.stream()) {
  frame_points(rows, dims, shifts, curve, frame_.data(), workspace);
  if (sorting == Sorting::with_queries) return;
  for (int shift = 0; shift < shifts.count; ++shift) {
    workspace.reset();
    auto* ids = workspace.take<unsigned>(as_size(rows.count));
    order_points(rows, frame_.data(), dims, shift, codes_.data() + shift * rows.count * core::code_shape(dims).words,
                 ids, workspace);
    gather_points(rows, dims, ids, points_.data() + shift * rows.count * curve_width(dims), workspace.stream());
  }
}

namespace {

// Calls run(search, row) for each batch; its answer's rows start at `row`.
template <class F, class Run>
void for_each_batch(const ShiftedWork& work, const ShiftedSets<F>& sets, Workspace& workspace,
                    const std::function<void(std::int64_t)>& on_batch_done, Run run) {
  CurveSearch<F> search;
  search.orders = sets.orders;
  search.base = sets.base;
  search.k = static_cast<unsigned>(work.k);
  search.window = static_cast<unsigned>(work.window);
  search.form = core::form_of(work.metric);
  search.root = core::effective_kind(work.metric) == MetricKind::euclidean;
  const bool together = sets.orders.points == nullptr;
  const bool in_order = sets.same && !together;  // the base's own order is that of the queries
  const std::int64_t width = curve_width(sets.orders.dims);
  for (std::int64_t first = 0; first < sets.queries.count; first += work.query_block) {
    workspace.reset();
    search.count = std::min(work.query_block, sets.queries.count - first);
    if (in_order) {
      search.queries = sets.orders.points + first * width;
    } else {
      const PointRows<F> batch{sets.queries.data + first * sets.queries.stride, search.count, sets.queries.stride};
      search.queries = ordered_queries(batch, sets.orders, workspace);
    }
    auto* places = workspace.take<unsigned>(as_size(search.count * sets.orders.shifts));
    if (together) {
      auto* points = workspace.take<F>(as_size(sets.base.count * width * sets.orders.shifts));
      sort_together(sets.orders, sets.base, search.queries, search.count, points, places, workspace);
      search.orders.points = points;
    } else {
      find_places(sets.orders, search.queries, search.count, places, workspace.stream());
    }
    search.places = places;
    // The base's own order has its rows as ids; those of a batch count from its first.
    run(search, in_order ? 0 : first);
    on_batch_done(search.count);
  }
}

}  // namespace

template <class F>
void shifted_sort(const ShiftedWork& work, const ShiftedSets<F>& sets, F* keys, std::int64_t* ids, Workspace& workspace,
                  const std::function<void(std::int64_t)>& on_batch_done) {
  for_each_batch(work, sets, workspace, on_batch_done, [&](const CurveSearch<F>& search, std::int64_t row) {
    if (work.global_merge)
      search_by_paper(search, keys + row * work.k, ids + row * work.k, workspace);
    else
      search_lists(search, keys + row * work.k, ids + row * work.k, workspace.stream());
  });
}

template <class F>
void shifted_sort(const ShiftedWork& work, const ShiftedSets<F>& sets, const reduce::NearReduction<F>& reduction,
                  Workspace& workspace, const std::function<void(std::int64_t)>& on_batch_done) {
  for_each_batch(work, sets, workspace, on_batch_done, [&](const CurveSearch<F>& search, std::int64_t row) {
    reduce::NearReduction<F> batch = reduction;
    batch.out += row * core::reduced_columns(reduction.what);
    search_reduced(search, batch, workspace.stream());
  });
}

#define KITH_INSTANTIATE(F)                                                                                          \
  template class CurveBase<F>;                                                                                       \
  template void shifted_sort(const ShiftedWork&, const ShiftedSets<F>&, F*, std::int64_t*, Workspace&,               \
                             const std::function<void(std::int64_t)>&);                                              \
  template void shifted_sort(const ShiftedWork&, const ShiftedSets<F>&, const reduce::NearReduction<F>&, Workspace&, \
                             const std::function<void(std::int64_t)>&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::shifted_sort
