#include "cuda/triangle/surviving_fraction.hpp"

#include <algorithm>

#include "core/triangle_sample.hpp"
#include "cuda/primitives/element.cuh"
#include "cuda/primitives/kth_key.cuh"
#include "cuda/primitives/random.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/triangle/assign.hpp"
#include "cuda/triangle/landmarks.hpp"
#include "cuda/triangle/lengths.cuh"
#include "cuda/triangle/pair_lengths.hpp"

namespace kith::KITH_BACKEND::triangle {
namespace {

struct ShareTuning {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kReachThreads = 1024;
  static constexpr unsigned kGroups = 8;  // of queries, each counted by other threads
};
using Tuning = ShareTuning;
using ReachScratch = KthScratch<PackedKey, Tuning::kReachThreads>;

// A query's reach is found among all points; members, some of them, get a cluster and are counted.
// A search waits for this, and all of it is small: what counts is the number of kernels. So all rows are drawn by one,
// and points and landmarks lie one behind the other, for their lengths to the queries to be one matrix.
template <class F>
struct Sample {
  std::int64_t points;
  std::int64_t landmarks;
  std::int64_t queries;
  F* rows;          // points, landmarks, queries, padded
  double* lengths;  // a row a query: to points and landmarks
  unsigned* clusters;
  unsigned long long* left;

  __host__ __device__ std::int64_t columns() const { return points + landmarks; }
  __host__ __device__ std::int64_t members() const {
    return points < core::kSampleMembers ? points : core::kSampleMembers;
  }
  // The points are in the base's order, and members are spread over all of it.
  __host__ __device__ std::int64_t step() const { return points / members(); }
};

// Queries that are the base are drawn among the sample's points.
template <class F>
__global__ void __launch_bounds__(Tuning::kThreads)
    draw_kernel(PointRows<F> base, PointRows<F> queries, bool same, unsigned dims, unsigned width, Sample<F> sample) {
  constexpr unsigned kLandmarkSeed = 1;
  constexpr unsigned kPointSeed = 2;
  constexpr unsigned kQuerySeed = 3;
  const std::int64_t at = thread_index();
  if (at == 0) *sample.left = 0;
  if (at >= (sample.columns() + sample.queries) * width) return;
  const MatrixElement place = element_at(at, width);
  const auto points = static_cast<unsigned>(sample.points);
  const auto all = static_cast<unsigned>(base.count);
  PointRows<F> from = base;
  unsigned row = 0;
  if (place.row < sample.points) {
    row = sample_place(all, points, static_cast<unsigned>(place.row), kPointSeed);
  } else if (place.row < sample.columns()) {
    row = sample_place(all, static_cast<unsigned>(sample.landmarks), static_cast<unsigned>(place.row - sample.points),
                       kLandmarkSeed);
  } else {
    const std::int64_t query = place.row - sample.columns();
    from = queries;
    row = same ? sample_place(all, points, static_cast<unsigned>(query * sample.points / sample.queries), kPointSeed)
               : sample_place(static_cast<unsigned>(queries.count), static_cast<unsigned>(sample.queries),
                              static_cast<unsigned>(query), kQuerySeed);
  }
  sample.rows[at] = place.column < dims ? from.data[row * from.stride + place.column] : F{0};
}

// Team a point and a group of queries. Whole warps call for every point.
template <class F, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(Tuning::kThreads)
    count_left_kernel(const __grid_constant__ Space<F> space, const __grid_constant__ Sample<F> sample,
                      const double* reaches) {
  const unsigned group = blockIdx.x % Tuning::kGroups;
  const std::int64_t i =
      static_cast<std::int64_t>(blockIdx.x / Tuning::kGroups) * (Tuning::kThreads / kTeam) + threadIdx.x / kTeam;
  const std::int64_t mine = min(i, sample.members() - 1);
  const std::int64_t center = sample.points + sample.clusters[mine];
  const double raw =
      sum_between<kTeam, double>(length_terms<kSquared>(space), sample.rows + mine * sample.step() * space.width,
                                 sample.rows + center * space.width, space.width);
  const double own = length_of<kSquared>(space.metric, raw);
  unsigned left = 0;
  for (std::int64_t q = group * kTeam + team_lane<kTeam>(); q < sample.queries; q += Tuning::kGroups * kTeam)
    if (!(fabs(sample.lengths[q * sample.columns() + center] - own) > reaches[q])) ++left;
  if (i >= sample.members()) left = 0;
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) left += __shfl_xor_sync(kFullMask, left, lanes);
  if (lane_id() == 0 && left > 0) atomicAdd(sample.left, static_cast<unsigned long long>(left));
}

// Block a query: a length that `rank` of its lengths to points do not pass.
template <class F>
__global__ void __launch_bounds__(Tuning::kReachThreads)
    reach_kernel(const __grid_constant__ Sample<F> sample, unsigned rank, double* reaches) {
  KITH_SHARED(ReachScratch, scratch, 1);
  const double* lengths = sample.lengths + blockIdx.x * sample.columns();
  const auto key = [=](unsigned i) { return make_key(ValueTraits<float>::bits(static_cast<float>(lengths[i])), i); };
  const PackedKey bound =
      kth_key_bound<Tuning::kReachThreads, PackedKey>(key, static_cast<unsigned>(sample.points), rank, scratch[0]);
  if (threadIdx.x == 0) reaches[blockIdx.x] = static_cast<double>(ValueTraits<float>::value(order_of(bound)));
}

}  // namespace

template <class F>
double surviving_fraction(const Space<F>& space, const PointRows<F>& base, const PointRows<F>& queries, bool same,
                          std::int64_t k, std::int64_t landmarks, std::size_t budget, cudaStream_t stream) {
  constexpr std::size_t kMostElements = 1 << 26;  // of rows of points, and of landmarks
  constexpr std::int64_t kFewestRows = 256;
  const std::size_t most = budget == 0 ? kMostElements : std::min(kMostElements, budget / 2 / sizeof(F));
  Workspace workspace(stream);
  Sample<F> sample{};
  const std::int64_t affordable = std::max(kFewestRows, static_cast<std::int64_t>(most / space.width));
  sample.points = std::min({base.count, core::kSamplePoints, affordable});
  sample.landmarks = std::min({landmarks, base.count, core::kSampleLandmarks, affordable});
  sample.queries = std::min({queries.count, sample.points, core::kSampleQueries});
  const std::int64_t elements = (sample.columns() + sample.queries) * space.width;
  sample.rows = workspace.take<F>(as_size(elements));
  sample.lengths = workspace.take<double>(as_size(sample.queries * sample.columns()));
  sample.clusters = workspace.take<unsigned>(as_size(sample.members()));
  sample.left = workspace.take<unsigned long long>(1);
  launch("draw", draw_kernel<F>, {.blocks = ceil_div(elements, Tuning::kThreads), .threads = Tuning::kThreads}, stream,
         base, queries, same, space.dims, space.width, sample);

  Workspace scratch(stream);
  const F* centers = sample.rows + sample.points * space.width;
  assign_points(space, {sample.rows, sample.members(), sample.step() * space.width}, centers, sample.landmarks,
                sample.clusters, 0, scratch);
  const F* asking = sample.rows + sample.columns() * space.width;
  pair_lengths(space, asking, sample.queries, sample.rows, sample.columns(), sample.lengths, stream);

  // A query of the base is among the points, at no distance, but is not its own neighbor.
  const double share_of_base = static_cast<double>(sample.points) / static_cast<double>(base.count);
  const auto rank = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(k) * share_of_base));
  auto* reaches = workspace.take<double>(as_size(sample.queries));
  launch("reach", reach_kernel<F>, {.blocks = sample.queries, .threads = Tuning::kReachThreads}, stream, sample,
         static_cast<unsigned>(std::min(rank + (same ? 1 : 0), sample.points)), reaches);
  with_space(space, [&](auto squared, auto team) {
    const std::int64_t blocks = ceil_div(sample.members(), Tuning::kThreads / team.value) * Tuning::kGroups;
    launch("count_left", count_left_kernel<F, squared.value, team.value>,
           {.blocks = blocks, .threads = Tuning::kThreads}, stream, space, sample, reaches);
  });
  unsigned long long found = 0;
  KITH_CUDA(cudaMemcpyAsync(&found, sample.left, sizeof(found), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return static_cast<double>(found) / static_cast<double>(sample.queries * sample.members());
}

#define KITH_INSTANTIATE(F)                                                                                         \
  template double surviving_fraction(const Space<F>&, const PointRows<F>&, const PointRows<F>&, bool, std::int64_t, \
                                     std::int64_t, std::size_t, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
