// panels.cu: points turned (panels.hpp), a panel and 32 coordinates a block, through shared memory.
// Cost    reads and writes every value once.
#include "cuda/distance/panels.hpp"

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::distance {
namespace {

constexpr unsigned kTurners = 256;
constexpr unsigned kTurned = 32;  // coordinates

template <class F>
__global__ void turn_points_kernel(PointRows<F> points, unsigned dims, F* panels) {
  constexpr unsigned kPoints = TileShape<F>::kPoints;
  constexpr unsigned kPitch = kPoints + 1;  // neighboring coordinates lie in different banks
  KITH_SHARED(F, part, kTurned * kPitch);
  const unsigned parts = (dims + kTurned - 1) / kTurned;
  const std::int64_t panel = blockIdx.x / parts;
  const unsigned coordinate = blockIdx.x % parts * kTurned;
  for (unsigned i = threadIdx.x; i < kPoints * kTurned; i += kTurners) {
    const unsigned c = i % kTurned;
    const std::int64_t point = panel * kPoints + i / kTurned;
    const bool inside = point < points.count && coordinate + c < dims;
    part[c * kPitch + i / kTurned] = inside ? points.data[point * points.stride + coordinate + c] : F{0};
  }
  __syncthreads();
  F* const to = panels + (panel * dims + coordinate) * kPoints;
  for (unsigned i = threadIdx.x; i < min(kTurned, dims - coordinate) * kPoints; i += kTurners)
    to[i] = part[i / kPoints * kPitch + i % kPoints];
}

}  // namespace

template <class F>
void turn_points(const PointRows<F>& points, std::int64_t dims, F* panels, cudaStream_t stream) {
  const std::int64_t blocks = ceil_div(points.count, TileShape<F>::kPoints) * ceil_div(dims, kTurned);
  launch("turn_points", turn_points_kernel<F>, {.blocks = blocks, .threads = kTurners}, stream, points,
         static_cast<unsigned>(dims), panels);
}

template void turn_points(const PointRows<float>&, std::int64_t, float*, cudaStream_t);
template void turn_points(const PointRows<double>&, std::int64_t, double*, cudaStream_t);

}  // namespace kith::KITH_BACKEND::distance
