// curve_base.cpp: the frame of a base, and its points sorted along the curve for every shift.
#include "cuda/shifted_sort/curve_base.hpp"

#include "cuda/shifted_sort/curve_point.cuh"
#include "cuda/shifted_sort/frame.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

template <class F>
CurveBase<F>::CurveBase(const PointRows<F>& rows, int dims, const core::CurveShifts& shifts, Curve curve,
                        Sorting sorting, Workspace& workspace)
    : count_(rows.count),
      dims_(dims),
      shifts_(shifts.count),
      frame_(1, workspace.stream()),
      codes_(as_size(sorting == Sorting::once ? rows.count * core::code_shape(dims).words * shifts.count : 0),
             workspace.stream()),
      points_(as_size(sorting == Sorting::once ? rows.count * curve_width(dims) * shifts.count : 0),
              workspace.stream()) {
  make_curve_frame(rows, dims, shifts, curve, frame_.data(), workspace);
  if (sorting == Sorting::with_queries) return;
  for (int shift = 0; shift < shifts.count; ++shift) {
    workspace.reset();
    auto* ids = workspace.allocate<unsigned>(as_size(rows.count));
    order_points(rows, frame_.data(), dims, shift, codes_.data() + shift * rows.count * core::code_shape(dims).words,
                 ids, workspace);
    gather_points(rows, dims, ids, points_.data() + shift * rows.count * curve_width(dims), workspace.stream());
  }
}

template class CurveBase<float>;
template class CurveBase<double>;

}  // namespace kith::KITH_BACKEND::shifted_sort
