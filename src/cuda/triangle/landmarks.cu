// How far apart the points of a draw lie is the sum of their lengths to each other. It is taken over all pairs of up to
// 512 of them, fewer where rows are long, spread over the draw: an estimate for larger draws.
// Cost: 10 · 512² / 2 lengths at most, and one row each of 10 · 512 points.
#include "cuda/triangle/landmarks.hpp"

#include <algorithm>
#include <cmath>

#include "cuda/primitives/element.cuh"
#include "cuda/primitives/random.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/triangle/lengths.cuh"

namespace kith::KITH_BACKEND::triangle {
namespace {

struct LandmarkTuning {
  static constexpr unsigned kDraws = 10;
  static constexpr unsigned kMostCompared = 512;
  static constexpr unsigned kLeastCompared = 16;
  static constexpr std::size_t kMostElements = std::size_t{1} << 24U;  // of all rows that are compared
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kBlockRows = 16;  // of a draw: so many a block has to compare with others
};
using Tuning = LandmarkTuning;

// Point i of `compared` points of a draw of `count`.
__device__ unsigned compared_point(unsigned points, unsigned count, unsigned compared, unsigned draw, unsigned i) {
  const auto landmark = static_cast<unsigned>(static_cast<std::uint64_t>(i) * count / compared);
  return sample_place(points, count, landmark, draw + 1);
}

__global__ void __launch_bounds__(Tuning::kThreads)
    compared_points_kernel(unsigned points, unsigned count, unsigned compared, unsigned* ids) {
  const std::int64_t at = thread_index();
  if (at >= static_cast<std::int64_t>(Tuning::kDraws) * compared) return;
  const MatrixElement place = element_at(at, compared);
  ids[at] = compared_point(points, count, compared, static_cast<unsigned>(place.row), place.column);
}

// Sum over a block; the first thread gets it.
__device__ double block_sum(double value) {
  constexpr unsigned kWarps = Tuning::kThreads / kWarp;
  KITH_SHARED(double, sums, kWarps);
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(kFullMask, value, step);
  if (lane_id() == 0) sums[warp_id()] = value;
  __syncthreads();
  double all = 0;
  if (threadIdx.x == 0)
    for (unsigned w = 0; w < kWarps; ++w) all += sums[w];
  return all;
}

// Block b of a draw's `blocks` has rows b, b + blocks, …, each with the rows before it.
template <class F, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(Tuning::kThreads) spread_kernel(const __grid_constant__ Space<F> space, const F* rows,
                                                                  unsigned compared, unsigned blocks, double* sums) {
  constexpr unsigned kTeams = Tuning::kThreads / kTeam;
  const auto terms = length_terms<kSquared>(space);
  const F* draw = rows + static_cast<std::int64_t>(blockIdx.x / blocks) * compared * space.width;
  double sum = 0;
  for (unsigned i = blockIdx.x % blocks; i < compared; i += blocks) {
    for (unsigned first = 0; first < i; first += kTeams) {
      const unsigned j = first + threadIdx.x / kTeam;
      const unsigned other = j < i ? j : 0;
      const double raw = sum_between<kTeam, double>(terms, draw + static_cast<std::int64_t>(i) * space.width,
                                                    draw + static_cast<std::int64_t>(other) * space.width, space.width);
      if (j < i && team_lane<kTeam>() == 0) sum += length_of<kSquared>(space.metric, raw);
    }
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// Lane a draw. The sums in one order, so that the choice is always the same; the first of equal draws.
__global__ void __launch_bounds__(kWarp) best_draw_kernel(const double* sums, unsigned blocks, unsigned* best) {
  static_assert(Tuning::kDraws <= kWarp);
  unsigned draw = lane_id();
  double sum = -1;
  if (draw < Tuning::kDraws) {
    sum = 0;
    for (unsigned b = 0; b < blocks; ++b) sum += sums[draw * blocks + b];
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(kFullMask, sum, step);
    const unsigned its = __shfl_xor_sync(kFullMask, draw, step);
    if (!(other > sum || (other == sum && its < draw))) continue;
    sum = other;
    draw = its;
  }
  if (lane_id() == 0) *best = draw;
}

__global__ void __launch_bounds__(Tuning::kThreads)
    landmarks_kernel(unsigned points, unsigned count, const unsigned* best, unsigned* out) {
  const std::int64_t i = thread_index();
  if (i < count) out[i] = sample_place(points, count, static_cast<unsigned>(i), *best + 1);
}

template <class F>
__global__ void __launch_bounds__(Tuning::kThreads)
    pad_rows_kernel(PointRows<F> points, const unsigned* ids, std::int64_t count, unsigned dims, unsigned width,
                    F* out) {
  const std::int64_t at = thread_index();
  if (at >= count * width) return;
  const MatrixElement place = element_at(at, width);
  const std::int64_t row = ids[place.row];
  out[at] = place.column < dims ? points.data[row * points.stride + place.column] : F{0};
}

Shape shape_for(std::int64_t threads) {
  return {.blocks = ceil_div(threads, Tuning::kThreads), .threads = Tuning::kThreads};
}

}  // namespace

std::int64_t default_landmarks(std::int64_t points) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(3 * std::sqrt(static_cast<double>(points))));
}

template <class F>
void choose_landmarks(const Space<F>& space, const PointRows<F>& points, std::int64_t count, unsigned* out,
                      std::size_t budget, Workspace& workspace) {
  cudaStream_t stream = workspace.stream();
  const auto elements =
      static_cast<unsigned>(budget == 0 ? Tuning::kMostElements : std::min(Tuning::kMostElements, budget / sizeof(F)));
  const auto all = static_cast<unsigned>(points.count);
  const auto drawn = static_cast<unsigned>(count);
  const unsigned affordable = std::max(Tuning::kLeastCompared, elements / Tuning::kDraws / space.width);
  const unsigned compared = std::min({drawn, affordable, Tuning::kMostCompared});
  const std::int64_t candidates = static_cast<std::int64_t>(Tuning::kDraws) * compared;
  auto* ids = workspace.take<unsigned>(static_cast<std::size_t>(candidates));
  F* rows = workspace.take<F>(static_cast<std::size_t>(candidates * space.width));
  const auto blocks = static_cast<unsigned>(ceil_div(compared, Tuning::kBlockRows));
  auto* sums = workspace.take<double>(Tuning::kDraws * blocks);
  auto* best = workspace.take<unsigned>(1);
  launch("compared_points", compared_points_kernel, shape_for(candidates), stream, all, drawn, compared, ids);
  pad_rows(space, points, ids, candidates, rows, stream);
  with_space(space, [&](auto squared, auto team) {
    launch("spread", spread_kernel<F, squared.value, team.value>,
           {.blocks = Tuning::kDraws * blocks, .threads = Tuning::kThreads}, stream, space, rows, compared, blocks,
           sums);
  });
  launch("best_draw", best_draw_kernel, {.blocks = 1, .threads = kWarp}, stream, sums, blocks, best);
  launch("landmarks", landmarks_kernel, shape_for(count), stream, all, drawn, best, out);
}

template <class F>
void pad_rows(const Space<F>& space, const PointRows<F>& points, const unsigned* ids, std::int64_t count, F* out,
              cudaStream_t stream) {
  launch("pad_rows", pad_rows_kernel<F>, shape_for(count * space.width), stream, points, ids, count, space.dims,
         space.width, out);
}

#define KITH_INSTANTIATE(F)                                                                                  \
  template void choose_landmarks(const Space<F>&, const PointRows<F>&, std::int64_t, unsigned*, std::size_t, \
                                 Workspace&);                                                                \
  template void pad_rows(const Space<F>&, const PointRows<F>&, const unsigned*, std::int64_t, F*, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
