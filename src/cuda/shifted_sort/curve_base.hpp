// curve_base.hpp: the orders of a base along a space-filling curve, one a shift (Li et al., 3.1); only the frame where
// points are sorted together with queries.
// Cost    a radix sort of the base a shift.
// Memory  a code and a point with its id for every point and shift.
#pragma once

#include "cuda/runtime/memory.hpp"
#include "cuda/shifted_sort/codes.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// When points are sorted: once, or together with every batch of queries, as Li et al. do (3.2;
// papers/joint_orders.hpp).
enum class Sorting { once, with_queries };

template <class F>
class CurveBase {
 public:
  // Enqueues everything on the workspace's stream.
  CurveBase(const PointRows<F>& rows, int dims, const core::CurveShifts& shifts, Curve curve, Sorting sorting,
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

}  // namespace kith::KITH_BACKEND::shifted_sort
