// codes.cu: a thread computes a code; a radix sort makes the order; a binary search finds a query's position, so that a
// base is sorted once for all its queries (papers/joint_orders.hpp sorts both together).
// Cost    queries come in the order of one curve, so that the binary searches of a warp read nearly the same codes.
#include "cuda/shifted_sort/codes.hpp"

#include "cuda/primitives/sort_pairs.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/shifted_sort/gather_point.cuh"

namespace kith::KITH_BACKEND::shifted_sort {
namespace {

constexpr unsigned kCodeThreads = 256;

__device__ __forceinline__ std::int64_t code_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * kCodeThreads + threadIdx.x;
}

template <class F, class Code, int kDims>
__global__ void __launch_bounds__(kCodeThreads) codes_kernel(PointRows<F> rows, const core::CurveFrame* frame,
                                                             int shift, unsigned first_id, Code* codes, unsigned* ids) {
  const std::int64_t i = code_thread();
  if (i >= rows.count) return;
  const F* row = rows.data + i * rows.stride;
  codes[i] = core::curve_code<Code, kDims>(*frame, shift, [=](int c) { return static_cast<double>(row[c]); });
  ids[i] = first_id + static_cast<unsigned>(i);
}

template <class F, unsigned kWidth>
__global__ void __launch_bounds__(kCodeThreads)
    gather_kernel(PointRows<F> rows, unsigned dims, const unsigned* ids, CurvePoint<F, kWidth>* points) {
  const std::int64_t i = code_thread();
  if (i >= rows.count) return;
  points[i] = gather_point<F, kWidth>(rows, dims, ids[i]);
}

template <class Code>
__device__ unsigned count_less(const Code* codes, std::int64_t count, const Code& code) {
  std::int64_t first = 0;
  while (count > 0) {
    const std::int64_t half = count / 2;
    if (codes[first + half] < code) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return static_cast<unsigned>(first);
}

// Blocks of one shift have neighboring numbers: those that read one order run at the same time.
template <class F, class Code, int kDims, unsigned kWidth>
__global__ void __launch_bounds__(kCodeThreads)
    positions_kernel(CurveOrders<F> orders, const CurvePoint<F, kWidth>* queries, std::int64_t count, unsigned blocks,
                     unsigned* positions) {
  const int shift = static_cast<int>(blockIdx.x / blocks);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x % blocks) * kCodeThreads + threadIdx.x;
  if (i >= count) return;
  const F* row = queries[i].x;
  const auto code =
      core::curve_code<Code, kDims>(*orders.frame, shift, [=](int c) { return static_cast<double>(row[c]); });
  const Code* codes = reinterpret_cast<const Code*>(orders.codes) + shift * orders.count;
  positions[shift * count + i] = count_less(codes, orders.count, code);
}

// Calls run(code, dims) with a value of the type of codes, and the number of dimensions as a constant: 2, 3, or 0 for
// all others.
template <class Run>
void with_codes(int dims, Run run) {
  if (dims == 3) return run(std::uint64_t{}, std::integral_constant<int, 3>{});
  if (dims == 2) return run(std::uint64_t{}, std::integral_constant<int, 2>{});
  if (core::code_shape(dims).words == 1) return run(std::uint64_t{}, std::integral_constant<int, 0>{});
  run(core::Code128{}, std::integral_constant<int, 0>{});
}

}  // namespace

template <class F>
void curve_codes(const PointRows<F>& rows, const core::CurveFrame* frame, int dims, int shift, unsigned first_id,
                 std::uint64_t* codes, unsigned* ids, cudaStream_t stream) {
  with_codes(dims, [&](auto code, auto fixed) {
    using Code = decltype(code);
    launch("codes", codes_kernel<F, Code, decltype(fixed)::value>, thread_each(rows.count), stream, rows, frame, shift,
           first_id, reinterpret_cast<Code*>(codes), ids);
  });
}

void sort_codes(std::uint64_t* codes, unsigned* ids, std::int64_t count, int dims, Workspace& workspace) {
  const core::CodeShape shape = core::code_shape(dims);
  if (shape.words == 1)
    sort_pairs(codes, ids, count, shape.bits * dims, workspace);
  else
    sort_pairs(reinterpret_cast<core::Code128*>(codes), ids, count, shape.bits * dims, workspace);
}

template <class F>
void order_points(const PointRows<F>& rows, const core::CurveFrame* frame, int dims, int shift, std::uint64_t* codes,
                  unsigned* ids, Workspace& workspace) {
  curve_codes(rows, frame, dims, shift, 0, codes, ids, workspace.stream());
  sort_codes(codes, ids, rows.count, dims, workspace);
}

template <class F>
void gather_points(const PointRows<F>& rows, int dims, const unsigned* ids, F* points, cudaStream_t stream) {
  with_curve_width(dims, [&](auto width) {
    using Point = CurvePoint<F, decltype(width)::value>;
    launch("gather_points", gather_kernel<F, decltype(width)::value>, thread_each(rows.count), stream, rows,
           static_cast<unsigned>(dims), ids, reinterpret_cast<Point*>(points));
  });
}

template <class F>
void find_positions(const CurveOrders<F>& orders, const F* queries, std::int64_t count, unsigned* positions,
                    cudaStream_t stream) {
  LaunchShape shape = thread_each(count);
  const auto blocks = static_cast<unsigned>(shape.blocks);
  shape.blocks *= orders.shifts;
  with_codes(orders.dims, [&](auto code, auto fixed) {
    using Code = decltype(code);
    constexpr int kDims = decltype(fixed)::value;
    with_curve_width(orders.dims, [&](auto width) {
      // Combinations that no number of dimensions needs are not compiled.
      constexpr unsigned kWidth = decltype(width)::value;
      constexpr bool kWide = sizeof(Code) == 16;
      if constexpr (kDims > 0 ? kWidth == 4 : kWide ? kWidth > 4 : kWidth < 20)
        launch("positions", positions_kernel<F, Code, kDims, kWidth>, shape, stream, orders,
               reinterpret_cast<const CurvePoint<F, kWidth>*>(queries), count, blocks, positions);
    });
  });
}

#define KITH_INSTANTIATE(F)                                                                                     \
  template void curve_codes(const PointRows<F>&, const core::CurveFrame*, int, int, unsigned, std::uint64_t*,   \
                            unsigned*, cudaStream_t);                                                           \
  template void order_points(const PointRows<F>&, const core::CurveFrame*, int, int, std::uint64_t*, unsigned*, \
                             Workspace&);                                                                       \
  template void gather_points(const PointRows<F>&, int, const unsigned*, F*, cudaStream_t);                     \
  template void find_positions(const CurveOrders<F>&, const F*, std::int64_t, unsigned*, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::shifted_sort
