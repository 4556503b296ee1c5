// integer_range.cu: warps take rows in turn and stop at the first coordinate that is no integer, so that of most sets
// few rows are read.
#include "cuda/points/integer_range.hpp"

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::inline points {
namespace {

struct IntegerRangeShape {
  static constexpr unsigned kThreads = 256;
  static constexpr std::int64_t kBlocks = 1024;
};

// Finds the largest magnitude, as the bits of a double, which have the order of doubles; infinity where a coordinate is
// no integer.
template <class F>
__global__ void __launch_bounds__(IntegerRangeShape::kThreads)
    integer_range_kernel(PointRows<F> points, std::int64_t dims, unsigned long long* largest) {
  constexpr unsigned kWarps = IntegerRangeShape::kThreads / kWarp;
  KITH_SHARED(unsigned long long, warp_maxima, kWarps);
  double mine = 0;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id(); row < points.count;
       row += static_cast<std::int64_t>(gridDim.x) * kWarps) {
    for (std::int64_t c = lane_id(); c < dims; c += kWarp) {
      const auto value = static_cast<double>(points.data[row * points.stride + c]);
      const double magnitude = value == trunc(value) ? fabs(value) : HUGE_VAL;
      mine = magnitude > mine ? magnitude : mine;
    }
    if (__any_sync(kFullMask, mine == HUGE_VAL ? 1 : 0) != 0) break;
  }
  auto bits = static_cast<unsigned long long>(__double_as_longlong(mine));
  for (int step = kWarp / 2; step > 0; step /= 2) bits = max(bits, __shfl_xor_sync(kFullMask, bits, step));
  if (lane_id() == 0) warp_maxima[warp_id()] = bits;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < kWarps; ++warp) bits = max(bits, warp_maxima[warp]);
  atomicMax(largest, bits);
}

}  // namespace

template <class F>
double integer_range(const PointRows<F>& points, std::int64_t dims, cudaStream_t stream) {
  DeviceBuffer<unsigned long long> largest(1, stream);
  KITH_CUDA(cudaMemsetAsync(largest.data(), 0, sizeof(unsigned long long), stream));
  const std::int64_t blocks = ceil_div(points.count, IntegerRangeShape::kThreads / kWarp);
  launch("integer_range", integer_range_kernel<F>,
         {.blocks = blocks < IntegerRangeShape::kBlocks ? blocks : IntegerRangeShape::kBlocks,
          .threads = IntegerRangeShape::kThreads},
         stream, points, dims, largest.data());
  double magnitude = 0;
  KITH_CUDA(cudaMemcpyAsync(&magnitude, largest.data(), sizeof(magnitude), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return magnitude < HUGE_VAL ? 2 * magnitude : 0;
}

template double integer_range(const PointRows<float>&, std::int64_t, cudaStream_t);
template double integer_range(const PointRows<double>&, std::int64_t, cudaStream_t);

}  // namespace kith::KITH_BACKEND::inline points
