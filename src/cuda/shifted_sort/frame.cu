// frame.cu: the bounding box of points, and the frame made from it.
// Idea    a thread keeps to one coordinate, so that neighbors read neighboring values; bounds are compared as integers
//         in the order of the values, by atomics in shared memory, then once a block in global memory.
// Cost    one read of the points.
#include "cuda/shifted_sort/frame.hpp"

#include <algorithm>

#include "cuda/primitives/key.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::shifted_sort {
namespace {

constexpr unsigned kFrameThreads = 256;
constexpr std::int64_t kMaxBlocks = 1024;

// Least and greatest value of each coordinate, as integers in the order of the values.
template <class F>
struct CurveBox {
  OrderOf<F> least[core::kMaxCurveDims];
  OrderOf<F> greatest[core::kMaxCurveDims];
};

template <class F>
__global__ void empty_box_kernel(CurveBox<F>* box) {
  const unsigned c = threadIdx.x;
  if (c >= core::kMaxCurveDims) return;
  box->least[c] = ~OrderOf<F>{0};
  box->greatest[c] = 0;
}

template <class F>
__global__ void __launch_bounds__(kFrameThreads)
    bounding_box_kernel(PointRows<F> rows, unsigned dims, CurveBox<F>* box) {
  KITH_SHARED(CurveBox<F>, own, 1);
  if (threadIdx.x < dims) {
    own->least[threadIdx.x] = ~OrderOf<F>{0};
    own->greatest[threadIdx.x] = 0;
  }
  __syncthreads();
  const unsigned rows_each = kFrameThreads / dims;
  const unsigned c = threadIdx.x % dims;
  OrderOf<F> least = ~OrderOf<F>{0};
  OrderOf<F> greatest = 0;
  if (threadIdx.x < rows_each * dims) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * rows_each;
    for (std::int64_t r = static_cast<std::int64_t>(blockIdx.x) * rows_each + threadIdx.x / dims; r < rows.count;
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
__global__ void frame_kernel(const CurveBox<F>* box, int dims, core::CurveShifts shifts, Curve curve,
                             core::CurveFrame* frame) {
  if (threadIdx.x != 0) return;
  double least[core::kMaxCurveDims];
  double greatest[core::kMaxCurveDims];
  for (int c = 0; c < dims; ++c) {
    least[c] = static_cast<double>(value_of<F>(box->least[c], false));
    greatest[c] = static_cast<double>(value_of<F>(box->greatest[c], false));
  }
  *frame = core::make_frame(least, greatest, dims, shifts, curve);
}

}  // namespace

template <class F>
void make_curve_frame(const PointRows<F>& rows, int dims, const core::CurveShifts& shifts, Curve curve,
                      core::CurveFrame* frame, Workspace& workspace) {
  auto* box = workspace.allocate<CurveBox<F>>(1);
  const std::int64_t blocks = ceil_div(rows.count, kFrameThreads / static_cast<unsigned>(dims));
  launch("empty_box", empty_box_kernel<F>, {.blocks = 1, .threads = kWarp}, workspace.stream(), box);
  launch("box", bounding_box_kernel<F>, {.blocks = std::min(blocks, kMaxBlocks), .threads = kFrameThreads},
         workspace.stream(), rows, static_cast<unsigned>(dims), box);
  launch("frame", frame_kernel<F>, {.blocks = 1, .threads = kWarp}, workspace.stream(), box, dims, shifts, curve,
         frame);
}

#define KITH_INSTANTIATE(F)                                                                                    \
  template void make_curve_frame(const PointRows<F>&, int, const core::CurveShifts&, Curve, core::CurveFrame*, \
                                 Workspace&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::shifted_sort
