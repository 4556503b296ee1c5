// A thread keeps to one coordinate, so that neighbors read neighboring values; bounds are compared as integers in the
// order of the values, first in shared memory, then once a block in the device's. Cost: one read of the points.
#include "cuda/shifted_sort/frame.hpp"

#include <algorithm>

#include "cuda/primitives/key.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::shifted_sort {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::int64_t kMostBlocks = 1024;

// Least and greatest of each coordinate, as integers.
template <class F>
struct Box {
  OrderOf<F> least[core::kMostCurveDims];
  OrderOf<F> greatest[core::kMostCurveDims];
};

template <class F>
__global__ void empty_box_kernel(Box<F>* box) {
  const unsigned c = threadIdx.x;
  if (c >= core::kMostCurveDims) return;
  box->least[c] = ~OrderOf<F>{0};
  box->greatest[c] = 0;
}

template <class F>
__global__ void __launch_bounds__(kThreads) box_kernel(PointRows<F> rows, unsigned dims, Box<F>* box) {
  KITH_SHARED(Box<F>, own, 1);
  if (threadIdx.x < dims) {
    own->least[threadIdx.x] = ~OrderOf<F>{0};
    own->greatest[threadIdx.x] = 0;
  }
  __syncthreads();
  const unsigned rows_at_once = kThreads / dims;
  const unsigned c = threadIdx.x % dims;
  OrderOf<F> least = ~OrderOf<F>{0};
  OrderOf<F> greatest = 0;
  if (threadIdx.x < rows_at_once * dims) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * rows_at_once;
    for (std::int64_t r = static_cast<std::int64_t>(blockIdx.x) * rows_at_once + threadIdx.x / dims; r < rows.count;
         r += step) {
      const OrderOf<F> order = ordered_bits(rows.data[r * rows.stride + c], false);
      least = min(least, order);
      greatest = max(greatest, order);
    }
    atomicMin(&own->least[c], least);
    atomicMax(&own->greatest[c], greatest);
  }
  __syncthreads();
  if (threadIdx.x >= dims) return;
  atomicMin(&box->least[threadIdx.x], own->least[threadIdx.x]);
  atomicMax(&box->greatest[threadIdx.x], own->greatest[threadIdx.x]);
}

template <class F>
__global__ void frame_kernel(const Box<F>* box, int dims, core::CurveShifts shifts, core::Curve curve,
                             core::CurveFrame* frame) {
  if (threadIdx.x != 0) return;
  double least[core::kMostCurveDims];
  double greatest[core::kMostCurveDims];
  for (int c = 0; c < dims; ++c) {
    least[c] = static_cast<double>(value_of<F>(box->least[c], false));
    greatest[c] = static_cast<double>(value_of<F>(box->greatest[c], false));
  }
  *frame = core::make_frame(least, greatest, dims, shifts, curve);
}

}  // namespace

template <class F>
void frame_points(const PointRows<F>& rows, int dims, const core::CurveShifts& shifts, core::Curve curve,
                  core::CurveFrame* frame, Workspace& workspace) {
  auto* box = workspace.take<Box<F>>(1);
  const std::int64_t blocks = ceil_div(rows.count, kThreads / static_cast<unsigned>(dims));
  launch("empty_box", empty_box_kernel<F>, {.blocks = 1, .threads = kWarp}, workspace.stream(), box);
  launch("box", box_kernel<F>, {.blocks = std::min(blocks, kMostBlocks), .threads = kThreads}, workspace.stream(), rows,
         static_cast<unsigned>(dims), box);
  launch("frame", frame_kernel<F>, {.blocks = 1, .threads = kWarp}, workspace.stream(), box, dims, shifts, curve,
         frame);
}

#define KITH_INSTANTIATE(F)                                                                                      \
  template void frame_points(const PointRows<F>&, int, const core::CurveShifts&, core::Curve, core::CurveFrame*, \
                             Workspace&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::shifted_sort
