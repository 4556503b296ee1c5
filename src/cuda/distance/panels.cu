// panels.cu: points transposed into panels (panels.hpp); a block transposes 32 coordinates of a panel in shared memory.
// Cost    reads and writes every value once.
#include "cuda/distance/panels.hpp"

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::distance {
namespace {

constexpr unsigned kTransposeThreads = 256;
constexpr unsigned kTransposeCoordinates = 32;  // of a block

template <class F>
__global__ void transpose_points_kernel(PointRows<F> points, unsigned dims, F* panels) {
  constexpr unsigned kPoints = TileShape<F>::kPoints;
  constexpr unsigned kPitch = kPoints + 1;  // neighboring coordinates lie in different banks
  KITH_SHARED(F, part, kTransposeCoordinates * kPitch);
  const unsigned parts = (dims + kTransposeCoordinates - 1) / kTransposeCoordinates;
  const std::int64_t panel = blockIdx.x / parts;
  const unsigned coordinate = blockIdx.x % parts * kTransposeCoordinates;
  for (unsigned i = threadIdx.x; i < kPoints * kTransposeCoordinates; i += kTransposeThreads) {
    const unsigned c = i % kTransposeCoordinates;
    const std::int64_t point = panel * kPoints + i / kTransposeCoordinates;
    const bool inside = point < points.count && coordinate + c < dims;
    part[c * kPitch + i / kTransposeCoordinates] = inside ? points.data[point * points.stride + coordinate + c] : F{0};
  }
  __syncthreads();
  F* const to = panels + (panel * dims + coordinate) * kPoints;
  for (unsigned i = threadIdx.x; i < min(kTransposeCoordinates, dims - coordinate) * kPoints; i += kTransposeThreads)
    to[i] = part[i / kPoints * kPitch + i % kPoints];
}

}  // namespace

template <class F>
void transpose_points(const PointRows<F>& points, std::int64_t dims, F* panels, cudaStream_t stream) {
  const std::int64_t blocks = ceil_div(points.count, TileShape<F>::kPoints) * ceil_div(dims, kTransposeCoordinates);
  launch("transpose_points", transpose_points_kernel<F>, {.blocks = blocks, .threads = kTransposeThreads}, stream,
         points, static_cast<unsigned>(dims), panels);
}

template void transpose_points(const PointRows<float>&, std::int64_t, float*, cudaStream_t);
template void transpose_points(const PointRows<double>&, std::int64_t, double*, cudaStream_t);

}  // namespace kith::KITH_BACKEND::distance
