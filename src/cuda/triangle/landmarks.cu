// landmarks.cu: ten random draws, of which the one whose points lie farthest apart is taken.
// Idea    a draw is judged by the sum of all distances between up to 512 of its points, fewer where rows are long,
//         spread over the draw.
// Cost    at most 10 · 512² / 2 distances, and reading 10 · 512 rows.
#include "cuda/triangle/landmarks.hpp"

#include <algorithm>
#include <cmath>

#include "cuda/primitives/matrix_element.cuh"
#include "cuda/primitives/random.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/triangle/metric_distance.cuh"

namespace kith::KITH_BACKEND::triangle {
namespace {

struct LandmarkTuning {
  static constexpr unsigned kDraws = 10;
  static constexpr unsigned kMaxCompared = 512;
  static constexpr unsigned kMinCompared = 16;
  static constexpr std::size_t kMaxElements = std::size_t{1} << 24U;  // coordinates of all compared rows
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kBlockRows = 16;  // rows of a draw that a block compares with the rows before them
};

// The id of the i-th of `compared` points of a draw of `count`.
__device__ unsigned compared_point(unsigned points, unsigned count, unsigned compared, unsigned draw, unsigned i) {
  const auto landmark = static_cast<unsigned>(static_cast<std::uint64_t>(i) * count / compared);
  return sample_position(points, count, landmark, draw + 1);
}

__global__ void __launch_bounds__(LandmarkTuning::kThreads)
    compared_points_kernel(unsigned points, unsigned count, unsigned compared, unsigned* ids) {
  const std::int64_t at = thread_index();
  if (at >= static_cast<std::int64_t>(LandmarkTuning::kDraws) * compared) return;
  const MatrixElement element = element_at(at, compared);
  ids[at] = compared_point(points, count, compared, static_cast<unsigned>(element.row), element.column);
}

// Adds up the values of a block; only the first thread gets the sum. Must be called by all threads of the block.
__device__ double block_sum(double value) {
  constexpr unsigned kWarps = LandmarkTuning::kThreads / kWarp;
  KITH_SHARED(double, sums, kWarps);
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(kFullMask, value, step);
  if (lane_id() == 0) sums[warp_id()] = value;
  __syncthreads();
  double all = 0;
  if (threadIdx.x == 0)
    for (unsigned w = 0; w < kWarps; ++w) all += sums[w];
  return all;
}

// Block b of a draw's `blocks` blocks compares rows b, b + blocks, … with all rows before them.
template <class F, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(LandmarkTuning::kThreads)
    spread_kernel(const __grid_constant__ Space<F> space, const F* rows, unsigned compared, unsigned blocks,
                  double* sums) {
  constexpr unsigned kTeams = LandmarkTuning::kThreads / kTeam;
  const auto terms = distance_terms<kSquared>(space);
  const F* draw = rows + static_cast<std::int64_t>(blockIdx.x / blocks) * compared * space.width;
  double sum = 0;
  for (unsigned i = blockIdx.x % blocks; i < compared; i += blocks) {
    for (unsigned first = 0; first < i; first += kTeams) {
      const unsigned j = first + threadIdx.x / kTeam;
      const unsigned other = j < i ? j : 0;
      const double raw = sum_of_pair<kTeam, double>(terms, draw + static_cast<std::int64_t>(i) * space.width,
                                                    draw + static_cast<std::int64_t>(other) * space.width, space.width);
      if (j < i && team_lane<kTeam>() == 0) sum += metric_distance<kSquared>(space.metric, raw);
    }
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// A lane takes a draw. Sums are added in a fixed order, so that the choice is deterministic; the first of equal draws.
__global__ void __launch_bounds__(kWarp) best_draw_kernel(const double* sums, unsigned blocks, unsigned* best) {
  static_assert(LandmarkTuning::kDraws <= kWarp);
  unsigned draw = lane_id();
  double sum = -1;
  if (draw < LandmarkTuning::kDraws) {
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

__global__ void __launch_bounds__(LandmarkTuning::kThreads)
    landmarks_kernel(unsigned points, unsigned count, const unsigned* best, unsigned* out) {
  const std::int64_t i = thread_index();
  if (i < count) out[i] = sample_position(points, count, static_cast<unsigned>(i), *best + 1);
}

template <class F>
__global__ void __launch_bounds__(LandmarkTuning::kThreads)
    pad_rows_kernel(PointRows<F> points, const unsigned* ids, std::int64_t count, unsigned dims, unsigned width,
                    F* out) {
  const std::int64_t at = thread_index();
  if (at >= count * width) return;
  const MatrixElement element = element_at(at, width);
  const std::int64_t row = ids[element.row];
  out[at] = element.column < dims ? points.data[row * points.stride + element.column] : F{0};
}

}  // namespace

std::int64_t default_landmarks(std::int64_t points) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(3 * std::sqrt(static_cast<double>(points))));
}

template <class F>
void choose_landmarks(const Space<F>& space, const PointRows<F>& points, std::int64_t count, unsigned* out,
                      std::size_t budget, Workspace& workspace) {
  cudaStream_t stream = workspace.stream();
  const auto elements = static_cast<unsigned>(budget == 0 ? LandmarkTuning::kMaxElements
                                                          : std::min(LandmarkTuning::kMaxElements, budget / sizeof(F)));
  const auto all = static_cast<unsigned>(points.count);
  const auto drawn = static_cast<unsigned>(count);
  const unsigned affordable = std::max(LandmarkTuning::kMinCompared, elements / LandmarkTuning::kDraws / space.width);
  const unsigned compared = std::min({drawn, affordable, LandmarkTuning::kMaxCompared});
  const std::int64_t candidates = static_cast<std::int64_t>(LandmarkTuning::kDraws) * compared;
  auto* ids = workspace.allocate<unsigned>(static_cast<std::size_t>(candidates));
  F* rows = workspace.allocate<F>(static_cast<std::size_t>(candidates * space.width));
  const auto blocks = static_cast<unsigned>(ceil_div(compared, LandmarkTuning::kBlockRows));
  auto* sums = workspace.allocate<double>(LandmarkTuning::kDraws * blocks);
  auto* best = workspace.allocate<unsigned>(1);
  launch("compared_points", compared_points_kernel, thread_each(candidates), stream, all, drawn, compared, ids);
  pad_rows(space, points, ids, candidates, rows, stream);
  with_space(space, [&](auto squared, auto team) {
    launch("spread", spread_kernel<F, squared.value, team.value>,
           {.blocks = LandmarkTuning::kDraws * blocks, .threads = LandmarkTuning::kThreads}, stream, space, rows,
           compared, blocks, sums);
  });
  launch("best_draw", best_draw_kernel, {.blocks = 1, .threads = kWarp}, stream, sums, blocks, best);
  launch("landmarks", landmarks_kernel, thread_each(count), stream, all, drawn, best, out);
}

template <class F>
void pad_rows(const Space<F>& space, const PointRows<F>& points, const unsigned* ids, std::int64_t count, F* out,
              cudaStream_t stream) {
  launch("pad_rows", pad_rows_kernel<F>, thread_each(count * space.width), stream, points, ids, count, space.dims,
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
