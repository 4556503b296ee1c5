// frame.hpp: the frame of a set of points, made on the device from their bounding box and kept there.
#pragma once

#include "core/curve.hpp"
#include "cuda/distance/scores.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// *frame is written in the stream's order; nothing is waited for. 1 ≤ dims ≤ core::kMostCurveDims.
template <class F>
void frame_points(const PointRows<F>& rows, int dims, const core::CurveShifts& shifts, core::Curve curve,
                  core::CurveFrame* frame, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::shifted_sort
