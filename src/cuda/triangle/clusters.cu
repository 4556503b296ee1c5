// clusters.cu: points are assigned to centers, measured, and sorted by (cluster, falling distance, id).
// Cost    the assignment, one distance a point, and one sort of 16 bytes a point.
#include "cuda/triangle/clusters.hpp"

#include <algorithm>

#include "cuda/primitives/device_sort.hpp"
#include "cuda/primitives/matrix_element.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/triangle/assign.hpp"
#include "cuda/triangle/landmarks.hpp"
#include "cuda/triangle/metric_distance.cuh"

namespace kith::KITH_BACKEND::triangle {
namespace {

constexpr unsigned kClusterThreads = 256;

// Sorts by cluster, falling distance, id.
__device__ WideKey member_key(unsigned cluster, double distance, unsigned id) {
  const auto upper = static_cast<unsigned>(static_cast<unsigned long long>(__double_as_longlong(distance)) >> 32U);
  return make_key(static_cast<unsigned long long>(cluster) << 32U | ~upper, id);
}

__device__ unsigned cluster_of(const WideKey& key) {
  return static_cast<unsigned>(order_of(key) >> 32U);
}

// A team of lanes takes a point.
template <class F, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(kClusterThreads)
    member_distances_kernel(const __grid_constant__ Space<F> space, PointRows<F> points, const F* centers,
                            const unsigned* clusters, double* distances, WideKey* keys) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * (kClusterThreads / kTeam) + threadIdx.x / kTeam;
  const std::int64_t row = min(i, points.count - 1);
  const unsigned cluster = clusters[row];
  const double raw = raw_of_pair<kTeam>(distance_terms<kSquared>(space), points.data + row * points.stride,
                                        centers + static_cast<std::int64_t>(cluster) * space.width, space.dims);
  if (i >= points.count || team_lane<kTeam>() != 0) return;
  const double distance = metric_distance<kSquared>(space.metric, raw);
  distances[i] = distance;
  keys[i] = member_key(cluster, distance, static_cast<unsigned>(i));
}

// A thread takes a position. The first position of a cluster decides offset and radius of it and of the empty clusters
// before it; the last position those of the empty clusters behind.
__global__ void __launch_bounds__(kClusterThreads)
    group_kernel(const WideKey* keys, std::int64_t count, unsigned clusters, const double* distances, unsigned* ids,
                 unsigned* cluster_of_position, double* sorted_distances, unsigned* offsets, double* radii) {
  const std::int64_t at = thread_index();
  if (at >= count) return;
  const WideKey key = keys[at];
  const unsigned cluster = cluster_of(key);
  const double distance = distances[id_of(key)];
  ids[at] = id_of(key);
  cluster_of_position[at] = cluster;
  sorted_distances[at] = distance;
  const auto position = static_cast<unsigned>(at);
  const unsigned first_unknown = at == 0 ? 0 : cluster_of(keys[at - 1]) + 1;
  for (unsigned c = first_unknown; c <= cluster; ++c) {
    offsets[c] = position;
    radii[c] = c == cluster ? set_low_word(distance) : 0.0;
  }
  if (at + 1 < count) return;
  for (unsigned c = cluster + 1; c < clusters; ++c) {
    offsets[c] = position + 1;
    radii[c] = 0;
  }
  offsets[clusters] = position + 1;
}

}  // namespace

template <class F>
Clusters<F>::Clusters(const Space<F>& space, const PointRows<F>& points, std::int64_t landmarks, cudaStream_t stream,
                      std::size_t budget, const StepMark& mark)
    : width_(space.width),
      centers_(as_size(landmarks * space.width), stream),
      radii_(as_size(landmarks), stream),
      offsets_(as_size(landmarks + 1), stream),
      rows_(as_size(points.count * space.width), stream),
      member_distances_(as_size(points.count), stream),
      ids_(as_size(points.count), stream),
      clusters_(as_size(points.count), stream) {
  const std::int64_t n = points.count;
  // The budget is for compared rows or scores, and once more for panels of points; a sort has some memory of its own.
  constexpr std::size_t kSortBytes = std::size_t{1} << 20U;
  Workspace scratch(stream, budget == 0 ? 0 : 2 * budget + as_size(n * scratch_bytes()) + kSortBytes);
  // Until the points are grouped, ids_ holds the landmarks, and clusters_ the cluster of each point by its id.
  choose_landmarks(space, points, landmarks, ids_.data(), budget, scratch);
  pad_rows(space, points, ids_.data(), landmarks, centers_.data(), stream);
  if (mark) mark("landmarks");
  assign_points(space, points, centers_.data(), landmarks, clusters_.data(), budget, scratch);
  scratch.reset();
  auto* distances = scratch.allocate<double>(as_size(n));
  auto* keys = scratch.allocate<WideKey>(as_size(n));
  with_space(space, [&](auto squared, auto team) {
    launch("member_distances", member_distances_kernel<F, squared.value, team.value>,
           {.blocks = ceil_div(n, kClusterThreads / team.value), .threads = kClusterThreads}, stream, space, points,
           centers_.data(), clusters_.data(), distances, keys);
  });
  sort_segments(keys, 1, n, scratch, IdOrder::ascending);
  launch("group", group_kernel, {.blocks = ceil_div(n, kClusterThreads), .threads = kClusterThreads}, stream, keys, n,
         static_cast<unsigned>(landmarks), distances, ids_.data(), clusters_.data(), member_distances_.data(),
         offsets_.data(), radii_.data());
  pad_rows(space, points, ids_.data(), n, rows_.data(), stream);
  if (mark) mark("clusters");
}

template <class F>
std::int64_t Clusters<F>::point_bytes(const Space<F>& space) {
  return static_cast<std::int64_t>(space.width * sizeof(F) + sizeof(double) + 2 * sizeof(unsigned));
}

// A distance, and a sort key with its copy.
template <class F>
std::int64_t Clusters<F>::scratch_bytes() {
  return static_cast<std::int64_t>(sizeof(double) + 2 * sizeof(WideKey)) + 1;
}

template <class F>
ClusterView<F> Clusters<F>::view() const {
  ClusterView<F> view;
  view.count = static_cast<unsigned>(count());
  view.width = width_;
  view.centers = centers_.data();
  view.radii = radii_.data();
  view.offsets = offsets_.data();
  view.rows = rows_.data();
  view.member_distances = member_distances_.data();
  view.ids = ids_.data();
  view.clusters = clusters_.data();
  return view;
}

template class Clusters<float>;
template class Clusters<double>;

}  // namespace kith::KITH_BACKEND::triangle
