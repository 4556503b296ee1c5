// tree.cu: leaves and boxes, a warp each.
#include "cuda/tree/tree.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "cuda/primitives/exclusive_count.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/tree/frame_points.hpp"
#include "cuda/tree/score_scale.hpp"
#include "cuda/tree/split_order.hpp"

namespace kith::KITH_BACKEND::tree {
namespace {

constexpr unsigned kBuildThreads = 256;
constexpr unsigned kBuildWarps = kBuildThreads / kWarp;

LaunchShape warp_each(std::int64_t count) {
  return {.blocks = ceil_div(count, kBuildWarps), .threads = kBuildThreads};
}

// What the host must know of the points.
template <class F>
struct Unusual {
  unsigned copies;  // leaves full of copies of one point
  F sample[core::kScaleSample];
};

// The place of the least (0) or greatest (1) of coordinate c of a box, in its level.
__device__ __forceinline__ std::int64_t side_of(unsigned box, unsigned dims, unsigned c, unsigned which) {
  return ((static_cast<std::int64_t>(box / kFanOut) * dims + c) * 2 + which) * kFanOut + box % kFanOut;
}

template <class F>
__device__ __forceinline__ void write_box(F least, F greatest, unsigned box, unsigned dims, unsigned c, F* boxes) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    least = fmin(least, __shfl_xor_sync(kFullMask, least, step));
    greatest = fmax(greatest, __shfl_xor_sync(kFullMask, greatest, step));
  }
  if (lane_id() != 0) return;
  boxes[side_of(box, dims, c, 0)] = least;
  boxes[side_of(box, dims, c, 1)] = greatest;
}

// A leaf's points, its box, and whether it is full of copies of one point as it was given, in `rows`. `placed` has the
// points in the frame of periodic axes, or is `rows` too. Places behind the last point repeat the leaf's first.
template <class F>
__global__ void __launch_bounds__(kBuildThreads)
    fill_leaves_kernel(PointRows<F> rows, PointRows<F> placed, unsigned dims, const unsigned* ids, F scale,
                       unsigned leaves, F* points, F* boxes, unsigned* is_copies) {
  const unsigned leaf = blockIdx.x * kBuildWarps + warp_id();
  if (leaf >= leaves) return;
  const std::int64_t first = static_cast<std::int64_t>(leaf) * kLeafPoints;
  const bool there = first + lane_id() < rows.count;
  const unsigned id = ids[first + (there ? lane_id() : 0)];
  bool is_copy = there;
  for (unsigned c = 0; c < dims; ++c) {
    const F at = placed.data[id * placed.stride + c];
    const F given = rows.data == placed.data ? at : rows.data[id * rows.stride + c];
    const F value = at * scale;
    points[first * dims + c * kLeafPoints + lane_id()] = value;
    const F first_given = __shfl_sync(kFullMask, given, 0);
    is_copy = is_copy && given == first_given;
    write_box(value, value, leaf, dims, c, boxes);
  }
  const bool all_copies = __all_sync(kFullMask, is_copy ? 1 : 0) != 0;
  if (lane_id() == 0) is_copies[leaf] = all_copies ? 1 : 0;
}

template <class F>
__global__ void __launch_bounds__(kBuildThreads)
    fill_level_kernel(const F* below, unsigned below_count, unsigned dims, unsigned count, F* boxes) {
  const unsigned box = blockIdx.x * kBuildWarps + warp_id();
  if (box >= count) return;
  const unsigned child = box * kFanOut + lane_id();
  const unsigned from = child < below_count ? child : box * kFanOut;
  for (unsigned c = 0; c < dims; ++c)
    write_box(below[side_of(from, dims, c, 0)], below[side_of(from, dims, c, 1)], box, dims, c, boxes);
}

template <class F>
__global__ void __launch_bounds__(kBuildThreads)
    count_copy_leaves_kernel(const unsigned* is_copies, unsigned leaves, Unusual<F>* unusual) {
  const std::int64_t i = thread_index();
  const unsigned votes = __ballot_sync(kFullMask, i < leaves && is_copies[i] != 0 ? 1 : 0);
  if (lane_id() == 0 && votes != 0) atomicAdd(&unusual->copies, static_cast<unsigned>(__popc(votes)));
}

// begins[i]: leaf i does not go on with the copies of the leaf before it.
template <class F>
__global__ void __launch_bounds__(kBuildThreads)
    begin_copies_kernel(PointRows<F> rows, unsigned dims, const unsigned* ids, const unsigned* is_copies,
                        unsigned leaves, unsigned* begins) {
  const std::int64_t i = thread_index();
  if (i >= leaves) return;
  bool goes_on = i > 0 && is_copies[i] != 0 && is_copies[i - 1] != 0;
  if (goes_on) {
    const F* const row = rows.data + ids[i * kLeafPoints] * rows.stride;
    const F* const before = rows.data + ids[(i - 1) * kLeafPoints] * rows.stride;
    for (unsigned c = 0; c < dims; ++c) goes_on = goes_on && row[c] == before[c];
  }
  begins[i] = goes_on ? 0 : 1;
}

__global__ void __launch_bounds__(kBuildThreads)
    first_leaves_kernel(const unsigned* begins, const unsigned* before, unsigned leaves, unsigned* firsts) {
  const std::int64_t i = thread_index();
  if (i < leaves && begins[i] != 0) firsts[before[i]] = static_cast<unsigned>(i);
}

// All leaves of a run before leaf i are full of copies of its points, with smaller ids.
__global__ void __launch_bounds__(kBuildThreads)
    leaf_copies_kernel(const unsigned* is_copies, const unsigned* begins, const unsigned* before,
                       const unsigned* firsts, unsigned leaves, unsigned* copies_before) {
  const std::int64_t i = thread_index();
  if (i >= leaves) return;
  const unsigned first = firsts[before[i] + begins[i] - 1];
  copies_before[i] = is_copies[i] != 0 ? (static_cast<unsigned>(i) - first) * kLeafPoints : 0;
}

__global__ void __launch_bounds__(kBuildThreads)
    level_copies_kernel(const unsigned* below, unsigned below_count, unsigned count, unsigned* copies_before) {
  const unsigned box = blockIdx.x * kBuildWarps + warp_id();
  if (box >= count) return;
  const unsigned child = box * kFanOut + lane_id();
  const unsigned least = __reduce_min_sync(kFullMask, below[child < below_count ? child : box * kFanOut]);
  if (lane_id() == 0) copies_before[box] = least;
}

}  // namespace

template <class F>
Tree<F>::Tree(const PointRows<F>& rows, std::int64_t dims, const Metric& metric, const std::vector<double>& period,
              Workspace& workspace)
    : ids_(as_size(rows.count), workspace.stream()),
      points_(as_size(ceil_div(rows.count, kLeafPoints) * kLeafPoints * dims), workspace.stream()),
      is_copies_(as_size(ceil_div(rows.count, kLeafPoints)), workspace.stream()) {
  view_.points = points_.data();
  view_.ids = ids_.data();
  view_.count = static_cast<unsigned>(rows.count);
  view_.dims = static_cast<unsigned>(dims);
  cudaStream_t stream = workspace.stream();
  allocate_levels(stream);
  DeviceBuffer<F> framed;
  PointRows<F> placed = rows;
  if (core::is_periodic(period)) {
    FramedPoints<F> points = frame_points(rows, period, metric, stream);
    view_.scale = points.scale;
    put_axes(std::move(points.axes), stream);
    framed = std::move(points.rows);
    placed = {framed.data(), rows.count, dims};
  }
  split_order(placed, view_.dims, ids_.data(), workspace);
  fill(rows, placed, 1, stream);

  DeviceBuffer<Unusual<F>> unusual(1, stream);
  KITH_CUDA(cudaMemsetAsync(unusual.data(), 0, sizeof(Unusual<F>), stream));
  launch("count_copy_leaves", count_copy_leaves_kernel<F>, thread_each(view_.level[0].count), stream, is_copies_.data(),
         view_.level[0].count, unusual.data());
  sample_magnitudes(rows, view_.dims, unusual.data()->sample, stream);
  Unusual<F> found{};
  KITH_CUDA(cudaMemcpyAsync(&found, unusual.data(), sizeof(found), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));

  if (!view_.is_periodic()) {
    view_.scale = scale_of(metric, found.sample, [&] { return largest_coordinate(stream); });
    if (view_.scale != 1) fill(rows, rows, view_.scale, stream);
  }
  if (found.copies > 0) count_copies(rows, workspace);
  is_copies_ = {};
}

template <class F>
void Tree<F>::put_axes(std::vector<core::PeriodicAxis> axes, cudaStream_t stream) {
  host_axes_ = std::move(axes);
  for (const core::PeriodicAxis& axis : host_axes_)
    host_periods_.push_back(core::working_period<F>(axis, static_cast<double>(view_.scale)));
  axes_ = DeviceBuffer<core::PeriodicAxis>(host_axes_.size(), stream);
  periods_ = DeviceBuffer<F>(host_periods_.size(), stream);
  KITH_CUDA(cudaMemcpyAsync(axes_.data(), host_axes_.data(), host_axes_.size() * sizeof(core::PeriodicAxis),
                            cudaMemcpyHostToDevice, stream));
  KITH_CUDA(cudaMemcpyAsync(periods_.data(), host_periods_.data(), host_periods_.size() * sizeof(F),
                            cudaMemcpyHostToDevice, stream));
  view_.axes = axes_.data();
  view_.periods = periods_.data();
}

template <class F>
void Tree<F>::allocate_levels(cudaStream_t stream) {
  std::size_t size = 0;
  std::int64_t count = ceil_div(view_.count, kLeafPoints);
  for (;;) {
    box_offsets_[view_.levels] = size;
    view_.level[view_.levels++].count = static_cast<unsigned>(count);
    size += as_size(ceil_div(count, kFanOut) * kFanOut * 2 * view_.dims);
    if (count <= kFanOut) break;
    count = ceil_div(count, kFanOut);
  }
  boxes_ = DeviceBuffer<F>(size, stream);
  // The last group of a level may have room for more boxes.
  KITH_CUDA(cudaMemsetAsync(boxes_.data(), 0, size * sizeof(F), stream));
  for (int level = 0; level < view_.levels; ++level) view_.level[level].boxes = boxes_of(level);
}

template <class F>
void Tree<F>::fill(const PointRows<F>& rows, const PointRows<F>& placed, F scale, cudaStream_t stream) {
  const unsigned leaves = view_.level[0].count;
  launch("fill_leaves", fill_leaves_kernel<F>, warp_each(leaves), stream, rows, placed, view_.dims, ids_.data(), scale,
         leaves, points_.data(), boxes_of(0), is_copies_.data());
  for (int level = 1; level < view_.levels; ++level)
    launch("fill_level", fill_level_kernel<F>, warp_each(view_.level[level].count), stream, boxes_of(level - 1),
           view_.level[level - 1].count, view_.dims, view_.level[level].count, boxes_of(level));
}

// The boxes of the highest level hold all points.
template <class F>
double Tree<F>::largest_coordinate(cudaStream_t stream) const {
  std::vector<F> sides(kFanOut * 2 * view_.dims);
  KITH_CUDA(cudaMemcpyAsync(sides.data(), view_.level[view_.levels - 1].boxes, sides.size() * sizeof(F),
                            cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  double found = 0;
  for (const F side : sides) found = std::max(found, std::abs(static_cast<double>(side)));
  return found;
}

template <class F>
void Tree<F>::count_copies(const PointRows<F>& rows, Workspace& workspace) {
  cudaStream_t stream = workspace.stream();
  std::size_t boxes = 0;
  for (int level = 0; level < view_.levels; ++level) boxes += view_.level[level].count;
  copies_before_ = DeviceBuffer<unsigned>(boxes, stream);
  const unsigned leaves = view_.level[0].count;
  workspace.reset();
  auto* const begins = workspace.allocate<unsigned>(leaves);
  auto* const before = workspace.allocate<unsigned>(leaves);
  auto* const firsts = workspace.allocate<unsigned>(leaves);
  const LaunchShape each = thread_each(leaves);
  launch("begin_copies", begin_copies_kernel<F>, each, stream, rows, view_.dims, ids_.data(), is_copies_.data(), leaves,
         begins);
  exclusive_count(begins, leaves, 1, before, workspace);
  launch("first_leaves", first_leaves_kernel, each, stream, begins, before, leaves, firsts);
  unsigned* copies = copies_before_.data();
  launch("leaf_copies", leaf_copies_kernel, each, stream, is_copies_.data(), begins, before, firsts, leaves, copies);
  view_.level[0].copies_before = copies;
  for (int level = 1; level < view_.levels; ++level) {
    const TreeLevel<F>& below = view_.level[level - 1];
    copies += below.count;
    launch("level_copies", level_copies_kernel, warp_each(view_.level[level].count), stream, below.copies_before,
           below.count, view_.level[level].count, copies);
    view_.level[level].copies_before = copies;
  }
}

template class Tree<float>;
template class Tree<double>;

}  // namespace kith::KITH_BACKEND::tree
