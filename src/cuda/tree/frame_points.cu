#include "cuda/tree/frame_points.hpp"

#include <algorithm>

#include "cuda/primitives/key.cuh"
#include "cuda/primitives/warp_reduce.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/tree/score_scale.hpp"

namespace kith::KITH_BACKEND::tree {
namespace {

constexpr unsigned kFrameThreads = 256;
constexpr std::int64_t kRangeBlocks = 512;

// The least and the greatest of each coordinate, by their order; numbers that are none do not count.
template <class F>
__global__ void __launch_bounds__(kFrameThreads)
    coordinate_range_kernel(PointRows<F> rows, unsigned dims, OrderOf<F>* least, OrderOf<F>* greatest) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kFrameThreads;
  for (unsigned c = 0; c < dims; ++c) {
    OrderOf<F> own_least = ~OrderOf<F>{0};
    OrderOf<F> own_greatest = 0;
    for (std::int64_t i = thread_index(); i < rows.count; i += step) {
      const OrderOf<F> order = ordered_bits(rows.data[i * rows.stride + c], false);
      if (order == kNanOrder<F>) continue;
      own_least = min(own_least, order);
      own_greatest = max(own_greatest, order);
    }
    own_least = warp_min(own_least);
    own_greatest = ~warp_min(~own_greatest);
    if (lane_id() != 0 || own_least > own_greatest) continue;
    atomicMin(&least[c], own_least);
    atomicMax(&greatest[c], own_greatest);
  }
}

// The same as values, 0 where there is no number.
template <class F>
__global__ void range_values_kernel(const OrderOf<F>* least, const OrderOf<F>* greatest, unsigned dims, F* values) {
  for (unsigned c = threadIdx.x; c < dims; c += blockDim.x) {
    const bool has_numbers = least[c] <= greatest[c];
    values[2 * c] = has_numbers ? value_of<F>(least[c], false) : F{0};
    values[2 * c + 1] = has_numbers ? value_of<F>(greatest[c], false) : F{0};
  }
}

template <class F>
__global__ void __launch_bounds__(kFrameThreads)
    frame_points_kernel(PointRows<F> rows, unsigned dims, const core::PeriodicAxis* axes, double scale, F* framed) {
  const std::int64_t i = thread_index();
  if (i >= rows.count * dims) return;
  const auto c = static_cast<unsigned>(i % dims);
  const auto given = static_cast<double>(rows.data[i / dims * rows.stride + c]);
  framed[i] = static_cast<F>((axes[c].wraps ? core::wrapped(given, axes[c].period) : given) * scale);
}

}  // namespace

template <class F>
FramedPoints<F> frame_points(const PointRows<F>& rows, const std::vector<double>& period, const Metric& metric,
                             cudaStream_t stream) {
  const auto dims = static_cast<unsigned>(period.size());
  DeviceBuffer<OrderOf<F>> orders(2 * period.size(), stream);
  OrderOf<F>* const least = orders.data();
  OrderOf<F>* const greatest = least + dims;
  KITH_CUDA(cudaMemsetAsync(least, 0xFF, dims * sizeof(OrderOf<F>), stream));
  KITH_CUDA(cudaMemsetAsync(greatest, 0, dims * sizeof(OrderOf<F>), stream));
  launch("coordinate_range", coordinate_range_kernel<F>,
         {.blocks = std::min(kRangeBlocks, ceil_div(rows.count, kFrameThreads)), .threads = kFrameThreads}, stream,
         rows, dims, least, greatest);
  // Two values an axis, then the sample.
  DeviceBuffer<F> values(orders.size() + core::kScaleSample, stream);
  launch("range_values", range_values_kernel<F>, {.blocks = 1, .threads = kWarp}, stream, least, greatest, dims,
         values.data());
  sample_magnitudes(rows, dims, values.data() + orders.size(), stream);
  std::vector<F> found(values.size());
  KITH_CUDA(cudaMemcpyAsync(found.data(), values.data(), found.size() * sizeof(F), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));

  FramedPoints<F> points;
  double largest = 0;
  for (std::size_t c = 0; c < dims; ++c) {
    points.axes.push_back(
        core::periodic_axis(period[c], static_cast<double>(found[2 * c]), static_cast<double>(found[2 * c + 1])));
    largest = std::max(largest, points.axes.back().largest);
  }
  points.scale = scale_of(metric, found.data() + orders.size(), [&] { return largest; });
  DeviceBuffer<core::PeriodicAxis> axes(dims, stream);
  KITH_CUDA(cudaMemcpyAsync(axes.data(), points.axes.data(), dims * sizeof(core::PeriodicAxis), cudaMemcpyHostToDevice,
                            stream));
  points.rows = DeviceBuffer<F>(as_size(rows.count * dims), stream);
  launch("frame_points", frame_points_kernel<F>, thread_each(rows.count * dims), stream, rows, dims, axes.data(),
         static_cast<double>(points.scale), points.rows.data());
  return points;
}

template FramedPoints<float> frame_points(const PointRows<float>&, const std::vector<double>&, const Metric&,
                                          cudaStream_t);
template FramedPoints<double> frame_points(const PointRows<double>&, const std::vector<double>&, const Metric&,
                                           cudaStream_t);

}  // namespace kith::KITH_BACKEND::tree
