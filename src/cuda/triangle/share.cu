#include "cuda/triangle/share.hpp"

#include <algorithm>

#include "cuda/runtime/launch.cuh"
#include "cuda/select/element.cuh"
#include "cuda/select/random.cuh"
#include "cuda/select/select.hpp"
#include "cuda/triangle/assign.hpp"
#include "cuda/triangle/landmarks.hpp"
#include "cuda/triangle/lengths.cuh"
#include "cuda/triangle/pair_lengths.hpp"

namespace kith::KITH_BACKEND {
namespace {

struct ShareTuning {
  static constexpr unsigned kThreads = 256;
  static constexpr std::int64_t kPoints = 8192;
  static constexpr std::int64_t kQueries = 48;
  static constexpr std::int64_t kLandmarks = 4096;
};
using Tuning = ShareTuning;

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

Shape shape_for(std::int64_t threads) {
  return {.blocks = ceil_div(threads, Tuning::kThreads), .threads = Tuning::kThreads};
}

__global__ void __launch_bounds__(Tuning::kThreads)
    draw_kernel(unsigned all, unsigned count, unsigned seed, unsigned* ids) {
  const std::int64_t i = thread_index();
  if (i < count) ids[i] = sample_place(all, count, static_cast<unsigned>(i), seed);
}

// No query is its own neighbour.
__global__ void __launch_bounds__(Tuning::kThreads)
    exclude_self_kernel(const unsigned* queries, const unsigned* points, std::int64_t pairs, unsigned count,
                        double* lengths) {
  const std::int64_t at = thread_index();
  if (at >= pairs) return;
  const Element place = element_at(at, count);
  if (queries[place.row] == points[place.column]) lengths[at] = std::numeric_limits<double>::infinity();
}

// By team: the length of each point to its own centre.
template <class F, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(Tuning::kThreads)
    own_lengths_kernel(const __grid_constant__ Space<F> space, const F* points, std::int64_t count, const F* centers,
                       const unsigned* clusters, double* lengths) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * (Tuning::kThreads / kTeam) + threadIdx.x / kTeam;
  const std::int64_t mine = min(i, count - 1);
  const double raw =
      sum_between<kTeam, double>(length_terms<kSquared>(space), points + mine * space.width,
                                 centers + static_cast<std::int64_t>(clusters[mine]) * space.width, space.width);
  if (i < count && team_lane<kTeam>() == 0) lengths[i] = length_of<kSquared>(space.metric, raw);
}

// Whole warps call for every row.
__global__ void __launch_bounds__(Tuning::kThreads)
    count_left_kernel(const double* centers, unsigned landmarks, const unsigned* clusters, const double* lengths,
                      const double* reaches, std::int64_t pairs, unsigned points, unsigned long long* left) {
  const std::int64_t at = thread_index();
  const Element place = element_at(min(at, pairs - 1), points);
  const double a = centers[place.row * landmarks + clusters[place.column]];
  const bool kept = at < pairs && !(fabs(a - lengths[place.column]) > reaches[place.row]);
  const auto count = static_cast<unsigned long long>(__popc(__ballot_sync(kFullMask, kept ? 1 : 0)));
  if (lane_id() == 0 && count > 0) atomicAdd(left, count);
}

// Some of a set: their numbers and rows.
template <class F>
struct Drawn {
  unsigned* ids;
  F* rows;
};

template <class F>
Drawn<F> draw(const Space<F>& space, const PointRows<F>& from, std::int64_t count, unsigned seed,
              Workspace& workspace) {
  const Drawn<F> drawn{workspace.take<unsigned>(size(count)), workspace.take<F>(size(count * space.width))};
  launch("draw", draw_kernel, shape_for(count), workspace.stream(), static_cast<unsigned>(from.count),
         static_cast<unsigned>(count), seed, drawn.ids);
  pad_rows(space, from, drawn.ids, count, drawn.rows, workspace.stream());
  return drawn;
}

// The value of that rank in each row.
double* kth_of_rows(const double* values, std::int64_t rows, std::int64_t length, std::int64_t rank,
                    Workspace& workspace) {
  Rows<double> all;
  all.values = values;
  all.rows = rows;
  all.length = static_cast<unsigned>(length);
  all.stride = length;
  auto* kth = workspace.take<double>(size(rows));
  const SelectTuning tuning;
  select_rows(
      SelectCall<double>{
          all, {kth, nullptr, static_cast<unsigned>(rank), TopkOutput::kth_only, all}, tuning, workspace},
      "auto");
  return kth;
}

}  // namespace

template <class F>
double triangle_share(const Space<F>& space, const PointRows<F>& base, const PointRows<F>& queries, bool same,
                      std::int64_t k, cudaStream_t stream) {
  const std::int64_t points = std::min(base.count, Tuning::kPoints);
  const std::int64_t asking = std::min(queries.count, Tuning::kQueries);
  const std::int64_t landmarks = std::min({default_landmarks(base.count), base.count, Tuning::kLandmarks});
  const std::int64_t pairs = asking * points;
  Workspace workspace(stream);
  const Drawn<F> centers = draw(space, base, landmarks, 1, workspace);
  const Drawn<F> sample = draw(space, base, points, 2, workspace);
  const Drawn<F> some = draw(space, queries, asking, 3, workspace);

  auto* clusters = workspace.take<unsigned>(size(points));
  Workspace scratch(stream);
  assign_points(space, {sample.rows, points, space.width}, centers.rows, landmarks, clusters, 0, scratch);
  auto* own = workspace.take<double>(size(points));
  with_space(space, [&](auto squared, auto team) {
    launch("own_lengths", own_lengths_kernel<F, squared.value, team.value>,
           {.blocks = ceil_div(points, Tuning::kThreads / team.value), .threads = Tuning::kThreads}, stream, space,
           sample.rows, points, centers.rows, clusters, own);
  });

  auto* to_points = workspace.take<double>(size(pairs));
  pair_lengths(space, some.rows, asking, sample.rows, points, to_points, stream);
  if (same)
    launch("exclude_self", exclude_self_kernel, shape_for(pairs), stream, some.ids, sample.ids, pairs,
           static_cast<unsigned>(points), to_points);
  const auto rank =
      static_cast<std::int64_t>(static_cast<double>(k) * static_cast<double>(points) / static_cast<double>(base.count));
  const double* reaches = kth_of_rows(to_points, asking, points, std::clamp<std::int64_t>(rank, 1, points), workspace);

  auto* to_centers = workspace.take<double>(size(asking * landmarks));
  pair_lengths(space, some.rows, asking, centers.rows, landmarks, to_centers, stream);
  auto* left = workspace.take<unsigned long long>(1);
  KITH_CUDA(cudaMemsetAsync(left, 0, sizeof(unsigned long long), stream));
  launch("count_left", count_left_kernel, shape_for(pairs), stream, to_centers, static_cast<unsigned>(landmarks),
         clusters, own, reaches, pairs, static_cast<unsigned>(points), left);
  unsigned long long found = 0;
  KITH_CUDA(cudaMemcpyAsync(&found, left, sizeof(found), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return static_cast<double>(found) / static_cast<double>(pairs);
}

#define KITH_INSTANTIATE(F)                                                                                     \
  template double triangle_share(const Space<F>&, const PointRows<F>&, const PointRows<F>&, bool, std::int64_t, \
                                 cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
