// frame_points.hpp: where points lie along periodic axes (core/periodic_frame.hpp).
// Cost    two readings of the points; the host waits for the first, which finds their range.
#pragma once

#include <vector>

#include "core/periodic_frame.hpp"
#include "cuda/points/point_rows.hpp"
#include "cuda/runtime/memory.hpp"
#include "kith/metric.hpp"

namespace kith::KITH_BACKEND::tree {

template <class F>
struct FramedPoints {
  std::vector<core::PeriodicAxis> axes;  // one for each dimension
  F scale = 1;                           // TreeView::scale
  DeviceBuffer<F> rows;                  // in the frame, times the scale, without gaps
};

// `period` as in Options, with a period at least.
template <class F>
FramedPoints<F> frame_points(const PointRows<F>& rows, const std::vector<double>& period, const Metric& metric,
                             cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::tree
