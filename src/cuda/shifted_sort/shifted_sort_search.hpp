// shifted_sort_search.hpp: approximate search by sorting shifted points along a space-filling curve (Li et al., kANN on
// the GPU with shifted sorting).
// Idea    candidates of a query are its neighbors in the order of the curve; shifts move the places where the curve
//         separates neighbors, so that the union over several shifts misses few.
// Cost    one radix sort of the base a shift (curve_base.hpp); a sort of the queries, and for each of them 2 · window
//         candidates a shift.
// Memory  curve_base.hpp for the base; about a hundred bytes a query of a batch.
// Limits  1 ≤ dims ≤ 16, k ≤ 1024, metrics of the forms squared, absolute and maximum.
#pragma once

#include <functional>

#include "cuda/shifted_sort/curve_base.hpp"
#include "cuda/shifted_sort/curve_search_reduced.hpp"
#include "kith/metric.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

struct ShiftedSortWork {
  Metric metric;
  std::int64_t k = 0;
  std::int64_t window = 0;       // candidates on either side, at least k
  std::int64_t query_block = 0;  // queries at a time
  bool global_merge = false;     // merge lists in global memory, as Li et al. do (papers/global_merge.hpp)
};

template <class F>
struct ShiftedSortSets {
  PointRows<F> queries;
  PointRows<F> base;
  CurveOrders<F> orders;  // of the base
  bool same = false;      // the queries are the base
};

// Where the answer goes: k keys and ids a query, sorted by (key, id), and unless it is null a flag that is 1 where the
// row is proven to be exact (certify_rows.hpp).
template <class F>
struct ShiftedSortAnswer {
  F* keys = nullptr;
  std::int64_t* ids = nullptr;
  std::uint8_t* certified = nullptr;
};

// Calls on_batch_done(queries) after each batch is enqueued.
template <class F>
void shifted_sort_search(const ShiftedSortWork& work, const ShiftedSortSets<F>& sets, const ShiftedSortAnswer<F>& out,
                         Workspace& workspace, const std::function<void(std::int64_t)>& on_batch_done);

// Writes a row of reduced values a query instead; not with global_merge.
template <class F>
void shifted_sort_search(const ShiftedSortWork& work, const ShiftedSortSets<F>& sets,
                         const reduce::NeighborReduction<F>& reduction, Workspace& workspace,
                         const std::function<void(std::int64_t)>& on_batch_done);

}  // namespace kith::KITH_BACKEND::shifted_sort
