// assign.cu: the nearest center of each point, in one of two ways.
// Idea    up to 8 dimensions of squared forms, centers pass through shared memory; a thread keeps two points in
//         registers and their minima, and no score is stored. Other spaces: a matrix of scores (register_tiled.cuh),
//         then the minimum of each row.
// Cost    few dimensions: a center costs two points one load of 16 bytes for four coordinates, and 2.5 operations a
//         coordinate each.
#include "cuda/triangle/assign.hpp"

#include <algorithm>

#include "cuda/distance/scores.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/triangle/metric_distance.cuh"

namespace kith::KITH_BACKEND::triangle {
namespace {

struct AssignTuning {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kPointsEach = 2;           // points of a thread
  static constexpr unsigned kSharedValues = 4096;      // coordinates of centers in shared memory
  static constexpr std::int64_t kMaxScores = 1 << 26;  // scores that are stored at a time
  static constexpr unsigned kWarps = kThreads / kWarp;
};

template <class F, unsigned kWidth>
__global__ void __launch_bounds__(AssignTuning::kThreads)
    nearest_kernel(PointRows<F> points, unsigned dims, const F* centers, unsigned count, unsigned* clusters) {
  using Tuning = AssignTuning;
  constexpr unsigned kTile = Tuning::kSharedValues / kWidth;
  KITH_SHARED(Pack<F>, tile, Tuning::kSharedValues / Pack<F>::kSize);
  const std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * Tuning::kThreads * Tuning::kPointsEach + threadIdx.x;
  F points_of_thread[Tuning::kPointsEach][kWidth];
  F nearest[Tuning::kPointsEach];
  unsigned nearest_center[Tuning::kPointsEach];
  KITH_UNROLL
  for (unsigned e = 0; e < Tuning::kPointsEach; ++e) {
    const std::int64_t row = min(first + e * Tuning::kThreads, points.count - 1);
    KITH_UNROLL
    for (unsigned c = 0; c < kWidth; ++c)
      points_of_thread[e][c] = c < dims ? points.data[row * points.stride + c] : F{0};
    nearest[e] = std::numeric_limits<F>::infinity();
    nearest_center[e] = 0;
  }
  for (unsigned begin = 0; begin < count; begin += kTile) {
    const unsigned now = min(kTile, count - begin);
    const auto* from = reinterpret_cast<const Pack<F>*>(centers + static_cast<std::int64_t>(begin) * kWidth);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < now * kWidth / Pack<F>::kSize; i += Tuning::kThreads) tile[i] = from[i];
    __syncthreads();
#pragma unroll 4
    for (unsigned center = 0; center < now; ++center) {
      F sums[Tuning::kPointsEach] = {};
      KITH_UNROLL
      for (unsigned p = 0; p < kWidth / Pack<F>::kSize; ++p) {
        const Pack<F> pack = tile[center * (kWidth / Pack<F>::kSize) + p];
        KITH_UNROLL
        for (unsigned i = 0; i < Pack<F>::kSize; ++i) {
          KITH_UNROLL
          for (unsigned e = 0; e < Tuning::kPointsEach; ++e)
            sums[e] = distance::SquaredForm<F>{}.combine(sums[e], points_of_thread[e][p * Pack<F>::kSize + i],
                                                         pack.elements[i]);
        }
      }
      KITH_UNROLL
      for (unsigned e = 0; e < Tuning::kPointsEach; ++e) {
        if (!(sums[e] < nearest[e])) continue;
        nearest[e] = sums[e];
        nearest_center[e] = begin + center;
      }
    }
  }
  KITH_UNROLL
  for (unsigned e = 0; e < Tuning::kPointsEach; ++e)
    if (first + e * Tuning::kThreads < points.count) clusters[first + e * Tuning::kThreads] = nearest_center[e];
}

// A warp finds the smallest score of a row, and the smallest column among equals.
template <class F>
__global__ void __launch_bounds__(AssignTuning::kThreads)
    smallest_kernel(const F* scores, std::int64_t stride, std::int64_t rows, unsigned count, unsigned* clusters) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * AssignTuning::kWarps + warp_id();
  if (row >= rows) return;
  F nearest = std::numeric_limits<F>::infinity();
  unsigned nearest_center = 0;
  for (unsigned c = lane_id(); c < count; c += kWarp) {
    const F score = scores[row * stride + c];
    if (!(score < nearest)) continue;
    nearest = score;
    nearest_center = c;
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const F score = __shfl_xor_sync(kFullMask, nearest, step);
    const unsigned there = __shfl_xor_sync(kFullMask, nearest_center, step);
    if (!(score < nearest || (score == nearest && there < nearest_center))) continue;
    nearest = score;
    nearest_center = there;
  }
  if (lane_id() == 0) clusters[row] = nearest_center;
}

template <unsigned kWidth, class F>
void assign_in_registers(const Space<F>& space, const PointRows<F>& points, const F* centers, std::int64_t count,
                         unsigned* clusters, cudaStream_t stream) {
  launch("nearest", nearest_kernel<F, kWidth>,
         {.blocks = ceil_div(points.count, AssignTuning::kThreads * AssignTuning::kPointsEach),
          .threads = AssignTuning::kThreads},
         stream, points, space.dims, centers, static_cast<unsigned>(count), clusters);
}

template <class F>
void assign_by_scores(const Space<F>& space, const PointRows<F>& points, const F* centers, std::int64_t count,
                      unsigned* clusters, std::size_t budget, Workspace& scratch) {
  const std::int64_t stride = ceil_div(count, distance::kRowAlignment) * distance::kRowAlignment;
  const auto affordable = static_cast<std::int64_t>(budget / sizeof(F));
  const std::int64_t max_scores =
      budget == 0 ? AssignTuning::kMaxScores : std::min(AssignTuning::kMaxScores, affordable);
  const std::int64_t tile = std::clamp<std::int64_t>(max_scores / stride, 1, points.count);
  for (std::int64_t first = 0; first < points.count; first += tile) {
    scratch.reset();
    const std::int64_t rows = std::min(tile, points.count - first);
    F* scores = scratch.allocate<F>(static_cast<std::size_t>(tile * stride));
    distance::register_tiled_scores(distance::ScoreCall<F>{{points.data + first * points.stride, rows, points.stride},
                                                           {centers, count, space.width},
                                                           space.dims,
                                                           space.form,
                                                           space.metric.p,
                                                           nullptr,
                                                           scores,
                                                           stride,
                                                           scratch});
    launch("smallest", smallest_kernel<F>,
           {.blocks = ceil_div(rows, AssignTuning::kWarps), .threads = AssignTuning::kThreads}, scratch.stream(),
           scores, stride, rows, static_cast<unsigned>(count), clusters + first);
  }
}

}  // namespace

template <class F>
void assign_points(const Space<F>& space, const PointRows<F>& points, const F* centers, std::int64_t count,
                   unsigned* clusters, std::size_t budget, Workspace& scratch) {
  if (space.is_squared() && space.width == 4)
    return assign_in_registers<4>(space, points, centers, count, clusters, scratch.stream());
  if (space.is_squared() && space.width == 8)
    return assign_in_registers<8>(space, points, centers, count, clusters, scratch.stream());
  assign_by_scores(space, points, centers, count, clusters, budget, scratch);
}

#define KITH_INSTANTIATE(F)                                                                                         \
  template void assign_points(const Space<F>&, const PointRows<F>&, const F*, std::int64_t, unsigned*, std::size_t, \
                              Workspace&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
