// surviving_fraction.cu: rows are drawn, points get their nearest landmark, and pairs that the search bound does not
// rule out are counted.
// Cost    a search waits for it, and every step is small, so that the number of kernels counts: one draws all rows, and
//         points and landmarks lie one behind the other, so that their distances to the queries are one matrix.
#include "cuda/triangle/surviving_fraction.hpp"

#include <algorithm>

#include "core/triangle_sample.hpp"
#include "cuda/primitives/kth_key.cuh"
#include "cuda/primitives/matrix_element.cuh"
#include "cuda/primitives/random.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/triangle/assign.hpp"
#include "cuda/triangle/landmarks.hpp"
#include "cuda/triangle/metric_distance.cuh"
#include "cuda/triangle/pair_distances.hpp"

namespace kith::KITH_BACKEND::triangle {
namespace {

struct FractionTuning {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kBoundThreads = 1024;
  static constexpr unsigned kGroups = 8;  // groups of queries, each counted by other threads
};
using BoundScratch = KthScratch<PackedKey, FractionTuning::kBoundThreads>;

// All points give the queries their search bounds; some of them, the members, get a cluster and are counted.
template <class F>
struct TriangleSample {
  std::int64_t points;
  std::int64_t landmarks;
  std::int64_t queries;
  F* rows;            // points, landmarks, queries, padded
  double* distances;  // a row a query: to points and landmarks
  unsigned* clusters;
  unsigned long long* left;

  __host__ __device__ std::int64_t columns() const { return points + landmarks; }
  __host__ __device__ std::int64_t members() const {
    return points < core::kSampleMembers ? points : core::kSampleMembers;
  }
  // Points are in the base's order, and members are every step-th of them.
  __host__ __device__ std::int64_t step() const { return points / members(); }
};

// Draws all rows of the sample. Queries that are the base (`same`) are drawn among the sample's points.
template <class F>
__global__ void __launch_bounds__(FractionTuning::kThreads)
    draw_kernel(PointRows<F> base, PointRows<F> queries, bool same, unsigned dims, unsigned width,
                TriangleSample<F> sample) {
  constexpr unsigned kLandmarkSeed = 1;
  constexpr unsigned kPointSeed = 2;
  constexpr unsigned kQuerySeed = 3;
  const std::int64_t at = thread_index();
  if (at == 0) *sample.left = 0;
  if (at >= (sample.columns() + sample.queries) * width) return;
  const MatrixElement element = element_at(at, width);
  const auto points = static_cast<unsigned>(sample.points);
  const auto all = static_cast<unsigned>(base.count);
  PointRows<F> from = base;
  unsigned row = 0;
  if (element.row < sample.points) {
    row = sample_position(all, points, static_cast<unsigned>(element.row), kPointSeed);
  } else if (element.row < sample.columns()) {
    row = sample_position(all, static_cast<unsigned>(sample.landmarks),
                          static_cast<unsigned>(element.row - sample.points), kLandmarkSeed);
  } else {
    const std::int64_t query = element.row - sample.columns();
    from = queries;
    row = same ? sample_position(all, points, static_cast<unsigned>(query * sample.points / sample.queries), kPointSeed)
               : sample_position(static_cast<unsigned>(queries.count), static_cast<unsigned>(sample.queries),
                                 static_cast<unsigned>(query), kQuerySeed);
  }
  sample.rows[at] = element.column < dims ? from.data[row * from.stride + element.column] : F{0};
}

// A team of lanes takes a member and a group of queries; the last teams of a warp may repeat the last member.
template <class F, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(FractionTuning::kThreads)
    count_left_kernel(const __grid_constant__ Space<F> space, const __grid_constant__ TriangleSample<F> sample,
                      const double* search_bounds) {
  const unsigned group = blockIdx.x % FractionTuning::kGroups;
  const std::int64_t i =
      static_cast<std::int64_t>(blockIdx.x / FractionTuning::kGroups) * (FractionTuning::kThreads / kTeam) +
      threadIdx.x / kTeam;
  const std::int64_t mine = min(i, sample.members() - 1);
  const std::int64_t center = sample.points + sample.clusters[mine];
  const double raw =
      sum_of_pair<kTeam, double>(distance_terms<kSquared>(space), sample.rows + mine * sample.step() * space.width,
                                 sample.rows + center * space.width, space.width);
  const double center_distance = metric_distance<kSquared>(space.metric, raw);
  unsigned left = 0;
  for (std::int64_t q = group * kTeam + team_lane<kTeam>(); q < sample.queries; q += FractionTuning::kGroups * kTeam)
    if (!(fabs(sample.distances[q * sample.columns() + center] - center_distance) > search_bounds[q])) ++left;
  if (i >= sample.members()) left = 0;
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) left += __shfl_xor_sync(kFullMask, left, lanes);
  if (lane_id() == 0 && left > 0) atomicAdd(sample.left, static_cast<unsigned long long>(left));
}

// A block takes a query; its search bound is a distance that at least `rank` points do not exceed.
template <class F>
__global__ void __launch_bounds__(FractionTuning::kBoundThreads)
    search_bound_kernel(const __grid_constant__ TriangleSample<F> sample, unsigned rank, double* search_bounds) {
  KITH_SHARED(BoundScratch, scratch, 1);
  const double* distances = sample.distances + blockIdx.x * sample.columns();
  const auto key = [=](unsigned i) { return make_key(ValueTraits<float>::bits(static_cast<float>(distances[i])), i); };
  const PackedKey bound = kth_key_bound<FractionTuning::kBoundThreads, PackedKey>(
      key, static_cast<unsigned>(sample.points), rank, scratch[0]);
  if (threadIdx.x == 0) search_bounds[blockIdx.x] = static_cast<double>(ValueTraits<float>::value(order_of(bound)));
}

}  // namespace

template <class F>
double surviving_fraction(const Space<F>& space, const PointRows<F>& base, const PointRows<F>& queries, bool same,
                          std::int64_t k, std::int64_t landmarks, std::size_t budget, cudaStream_t stream) {
  constexpr std::size_t kMaxElements = 1 << 26;  // coordinates of points, and of landmarks
  constexpr std::int64_t kMinRows = 256;
  const std::size_t max_values = budget == 0 ? kMaxElements : std::min(kMaxElements, budget / 2 / sizeof(F));
  Workspace workspace(stream);
  TriangleSample<F> sample{};
  const std::int64_t affordable = std::max(kMinRows, static_cast<std::int64_t>(max_values / space.width));
  sample.points = std::min({base.count, core::kSamplePoints, affordable});
  sample.landmarks = std::min({landmarks, base.count, core::kSampleLandmarks, affordable});
  sample.queries = std::min({queries.count, sample.points, core::kSampleQueries});
  const std::int64_t elements = (sample.columns() + sample.queries) * space.width;
  sample.rows = workspace.allocate<F>(as_size(elements));
  sample.distances = workspace.allocate<double>(as_size(sample.queries * sample.columns()));
  sample.clusters = workspace.allocate<unsigned>(as_size(sample.members()));
  sample.left = workspace.allocate<unsigned long long>(1);
  launch("draw", draw_kernel<F>,
         {.blocks = ceil_div(elements, FractionTuning::kThreads), .threads = FractionTuning::kThreads}, stream, base,
         queries, same, space.dims, space.width, sample);

  Workspace scratch(stream);
  const F* centers = sample.rows + sample.points * space.width;
  assign_points(space, {sample.rows, sample.members(), sample.step() * space.width}, centers, sample.landmarks,
                sample.clusters, 0, scratch);
  const F* query_rows = sample.rows + sample.columns() * space.width;
  pair_distances(space, query_rows, sample.queries, sample.rows, sample.columns(), sample.distances, stream);

  // A query of the base is among the points, at distance 0, but is not its own neighbor.
  const double sampled_fraction = static_cast<double>(sample.points) / static_cast<double>(base.count);
  const auto rank = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(k) * sampled_fraction));
  auto* search_bounds = workspace.allocate<double>(as_size(sample.queries));
  launch("search_bound", search_bound_kernel<F>, {.blocks = sample.queries, .threads = FractionTuning::kBoundThreads},
         stream, sample, static_cast<unsigned>(std::min(rank + (same ? 1 : 0), sample.points)), search_bounds);
  with_space(space, [&](auto squared, auto team) {
    const std::int64_t blocks =
        ceil_div(sample.members(), FractionTuning::kThreads / team.value) * FractionTuning::kGroups;
    launch("count_left", count_left_kernel<F, squared.value, team.value>,
           {.blocks = blocks, .threads = FractionTuning::kThreads}, stream, space, sample, search_bounds);
  });
  unsigned long long surviving = 0;
  KITH_CUDA(cudaMemcpyAsync(&surviving, sample.left, sizeof(surviving), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return static_cast<double>(surviving) / static_cast<double>(sample.queries * sample.members());
}

#define KITH_INSTANTIATE(F)                                                                                         \
  template double surviving_fraction(const Space<F>&, const PointRows<F>&, const PointRows<F>&, bool, std::int64_t, \
                                     std::int64_t, std::size_t, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
