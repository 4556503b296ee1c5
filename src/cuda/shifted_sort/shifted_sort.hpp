// shifted_sort.hpp: approximate search by sorting shifted points along a space-filling curve (Li et al., kANN on the
// GPU with shifted sorting).
// Cost    one radix sort of the base a shift, once or, together with the queries, for each batch of them; a sort of the
//         queries, and for each of them 2 · window candidates a shift.
// Memory  of the base, for every shift, a code and a point with its id (curve_bytes()); of a query of a batch some
//         hundred bytes. Sorted together: of a batch, codes twice and the points of all shifts (joint_orders.hpp).
// Limits  1 ≤ dims ≤ 16, k ≤ 1024, metrics of the forms squared, absolute and maximum.
#pragma once

#include <functional>

#include "cuda/runtime/memory.hpp"
#include "cuda/shifted_sort/near_reduction.hpp"
#include "kith/metric.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// When the points are put in order. With queries: both are sorted together, as Li et al. do (3.2), for every batch.
enum class Sorting { once, with_queries };

// The orders of a base along the curve, one a shift; only its frame where they are made with queries.
template <class F>
class CurveBase {
 public:
  // Everything is enqueued on the workspace's stream, from which the memory comes too.
  CurveBase(const PointRows<F>& rows, int dims, const core::CurveShifts& shifts, core::Curve curve, Sorting sorting,
            Workspace& workspace);

  CurveOrders<F> orders() const { return {frame_.data(), codes_.data(), points_.data(), count_, dims_, shifts_}; }

 private:
  std::int64_t count_;
  int dims_;
  int shifts_;
  DeviceBuffer<core::CurveFrame> frame_;
  DeviceBuffer<std::uint64_t> codes_;
  DeviceBuffer<F> points_;
};

struct ShiftedWork {
  Metric metric;
  std::int64_t k = 0;
  std::int64_t window = 0;       // candidates on either side, at least k
  std::int64_t query_block = 0;  // queries at a time
  bool global_merge = false;     // lists go through memory after every shift, merged as Li et al. do
};

template <class F>
struct ShiftedSets {
  PointRows<F> queries;
  PointRows<F> base;
  CurveOrders<F> orders;  // of the base
  bool same = false;      // the queries are the base
};

// k keys and ids a query, sorted by (key, id). between(queries) is called after each batch is enqueued.
template <class F>
void shifted_sort(const ShiftedWork& work, const ShiftedSets<F>& sets, F* keys, std::int64_t* ids, Workspace& workspace,
                  const std::function<void(std::int64_t)>& on_batch_done);

// A row of reduced values a query instead; not with the paper's merge.
template <class F>
void shifted_sort(const ShiftedWork& work, const ShiftedSets<F>& sets, const reduce::NearReduction<F>& reduction,
                  Workspace& workspace, const std::function<void(std::int64_t)>& on_batch_done);

}  // namespace kith::KITH_BACKEND::shifted_sort
