// Cost: the assignment, one length a point, and one sort of 16 bytes a point.
#include "cuda/triangle/clusters.hpp"

#include <algorithm>

#include "cuda/primitives/device_sort.hpp"
#include "cuda/primitives/element.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/triangle/assign.hpp"
#include "cuda/triangle/landmarks.hpp"
#include "cuda/triangle/lengths.cuh"

namespace kith::KITH_BACKEND::triangle {
namespace {

constexpr unsigned kThreads = 256;

// By cluster, falling length, number.
__device__ WideKey member_key(unsigned cluster, double length, unsigned id) {
  const auto upper = static_cast<unsigned>(static_cast<unsigned long long>(__double_as_longlong(length)) >> 32U);
  return make_key(static_cast<unsigned long long>(cluster) << 32U | ~upper, id);
}

__device__ unsigned cluster_of(const WideKey& key) {
  return static_cast<unsigned>(order_of(key) >> 32U);
}

// Team a point.
template <class F, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(kThreads)
    member_lengths_kernel(const __grid_constant__ Space<F> space, PointRows<F> points, const F* centers,
                          const unsigned* clusters, double* lengths, WideKey* keys) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * (kThreads / kTeam) + threadIdx.x / kTeam;
  const std::int64_t row = min(i, points.count - 1);
  const unsigned cluster = clusters[row];
  const double raw = raw_between<kTeam>(length_terms<kSquared>(space), points.data + row * points.stride,
                                        centers + static_cast<std::int64_t>(cluster) * space.width, space.dims);
  if (i >= points.count || team_lane<kTeam>() != 0) return;
  const double length = length_of<kSquared>(space.metric, raw);
  lengths[i] = length;
  keys[i] = member_key(cluster, length, static_cast<unsigned>(i));
}

// Thread a position. Where a cluster begins, its offset and radius are known, and so are those of the empty ones
// before.
__global__ void __launch_bounds__(kThreads)
    group_kernel(const WideKey* keys, std::int64_t count, unsigned clusters, const double* lengths, unsigned* ids,
                 unsigned* cluster_of_position, double* sorted_lengths, unsigned* offsets, double* radii) {
  const std::int64_t at = thread_index();
  if (at >= count) return;
  const WideKey key = keys[at];
  const unsigned cluster = cluster_of(key);
  const double length = lengths[id_of(key)];
  ids[at] = id_of(key);
  cluster_of_position[at] = cluster;
  sorted_lengths[at] = length;
  const auto position = static_cast<unsigned>(at);
  const unsigned first_unknown = at == 0 ? 0 : cluster_of(keys[at - 1]) + 1;
  for (unsigned c = first_unknown; c <= cluster; ++c) {
    offsets[c] = position;
    radii[c] = c == cluster ? half_above(length) : 0.0;
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
      lengths_(as_size(points.count), stream),
      ids_(as_size(points.count), stream),
      clusters_(as_size(points.count), stream) {
  const std::int64_t n = points.count;
  // Rows that are compared or scores, panels of points, and what is sorted; a sort has some memory of its own.
  constexpr std::size_t kOfSort = std::size_t{1} << 20U;
  Workspace scratch(stream, budget == 0 ? 0 : 2 * budget + as_size(n * scratch_bytes()) + kOfSort);
  // ids_ holds the landmarks at first, and clusters_ the cluster of each point by its number.
  choose_landmarks(space, points, landmarks, ids_.data(), budget, scratch);
  pad_rows(space, points, ids_.data(), landmarks, centers_.data(), stream);
  if (mark) mark("landmarks");
  assign_points(space, points, centers_.data(), landmarks, clusters_.data(), budget, scratch);
  scratch.reset();
  auto* lengths = scratch.take<double>(as_size(n));
  auto* keys = scratch.take<WideKey>(as_size(n));
  with_space(space, [&](auto squared, auto team) {
    launch("member_lengths", member_lengths_kernel<F, squared.value, team.value>,
           {.blocks = ceil_div(n, kThreads / team.value), .threads = kThreads}, stream, space, points, centers_.data(),
           clusters_.data(), lengths, keys);
  });
  sort_segments(keys, 1, n, scratch, IdOrder::ascending);
  launch("group", group_kernel, {.blocks = ceil_div(n, kThreads), .threads = kThreads}, stream, keys, n,
         static_cast<unsigned>(landmarks), lengths, ids_.data(), clusters_.data(), lengths_.data(), offsets_.data(),
         radii_.data());
  pad_rows(space, points, ids_.data(), n, rows_.data(), stream);
  if (mark) mark("clusters");
}

template <class F>
std::int64_t Clusters<F>::point_bytes(const Space<F>& space) {
  return static_cast<std::int64_t>(space.width * sizeof(F) + sizeof(double) + 2 * sizeof(unsigned));
}

// A length, and a key that is sorted.
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
  view.lengths = lengths_.data();
  view.ids = ids_.data();
  view.clusters = clusters_.data();
  return view;
}

template class Clusters<float>;
template class Clusters<double>;

}  // namespace kith::KITH_BACKEND::triangle
