// frame.hpp: the frame of a set of points (core/curve.hpp), made from their bounding box without leaving the device.
#pragma once

#include "core/curve.hpp"
#include "cuda/distance/scores.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// Writes *frame in the stream's order; does not wait. 1 ≤ dims ≤ core::kMaxCurveDims.
template <class F>
void make_curve_frame(const PointRows<F>& rows, int dims, const core::CurveShifts& shifts, Curve curve,
                      core::CurveFrame* frame, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::shifted_sort
