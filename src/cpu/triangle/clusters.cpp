// clusters.cpp: landmarks are drawn, rows assigned to the nearest, empty clusters dropped, and members sorted.
#include "cpu/triangle/clusters.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include "core/instantiate.hpp"
#include "core/triangle_bounds.hpp"
#include "cpu/parallel.hpp"
#include "cpu/triangle/block_rows.hpp"
#include "cpu/triangle/landmarks.hpp"
#include "cpu/triangle/metric_distance.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kRowsOfTask = 512;
constexpr std::int64_t kClustersOfTask = 16;

// A row before its cluster is sorted.
template <class F>
struct Member {
  F distance;
  std::uint32_t hash;  // brings equal rows together
  std::int64_t id;

  friend bool operator<(const Member& a, const Member& b) {
    if (a.distance != b.distance) return a.distance > b.distance;
    return a.hash != b.hash ? a.hash < b.hash : a.id < b.id;
  }
};

template <class F>
std::uint32_t hash_row(const F* row, std::int64_t dims) {
  std::uint64_t hash = 0;
  for (std::int64_t c = 0; c < dims; ++c) {
    using Bits = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;
    hash = (std::rotl(hash, 5) ^ std::bit_cast<Bits>(row[c] + F{0})) * 0x9E3779B97F4A7C15U;
  }
  return static_cast<std::uint32_t>(hash >> 32U);
}

// Finds the nearest landmark of every row, and its distance.
template <Element T>
void assign(const PreparedRows<T>& set, const Clustering& how, const LaneBlocks<DistanceOf<T>>& landmarks,
            ProgressMeter& progress, std::vector<std::uint32_t>& nearest, std::vector<Member<DistanceOf<T>>>& rows) {
  using F = DistanceOf<T>;
  const std::int64_t dims = set.view.cols;
  const std::int64_t tasks = (how.rows + kRowsOfTask - 1) / kRowsOfTask;
  parallel_for(how.threads, tasks, [&](std::int64_t task, int worker) {
    progress.check(worker);
    const std::int64_t first = task * kRowsOfTask;
    const std::int64_t count = std::min(kRowsOfTask, how.rows - first);
    std::vector<F> scratch(is_working_layout(set) ? 0 : static_cast<std::size_t>(count * dims));
    std::vector<F> scores(static_cast<std::size_t>(count));
    const Rows<F> points = working_rows(set, how.first + first, count, scratch.data());
    nearest_points(core::metric_distance_form(set.metric), set.metric.p, points, landmarks, nearest.data() + first,
                   scores.data());
    for (std::int64_t i = 0; i < count; ++i)
      rows[static_cast<std::size_t>(first + i)] = {metric_distance(set.metric, scores[static_cast<std::size_t>(i)]),
                                                   hash_row(points.data + i * points.stride, dims),
                                                   how.first + first + i};
  });
}

// Drops the landmarks of empty clusters, which are copies of others mostly.
template <class F>
std::vector<std::int64_t> drop_empty(Clusters<F>& clusters, std::vector<std::int64_t> landmarks,
                                     std::vector<std::uint32_t>& nearest) {
  std::vector<std::int64_t> sizes(landmarks.size());
  for (const std::uint32_t cluster : nearest) ++sizes[cluster];
  std::vector<std::uint32_t> renamed(landmarks.size());
  std::size_t kept = 0;
  std::vector<std::int64_t> offsets(1, 0);
  for (std::size_t i = 0; i < landmarks.size(); ++i) {
    renamed[i] = static_cast<std::uint32_t>(kept);
    if (sizes[i] == 0) continue;
    offsets.push_back(offsets.back() + sizes[i]);
    landmarks[kept++] = landmarks[i];
  }
  clusters.offsets = std::move(offsets);
  landmarks.resize(kept);
  for (std::uint32_t& cluster : nearest) cluster = renamed[cluster];
  return landmarks;
}

// Moves members to their clusters and sorts them there.
template <class F>
std::vector<Member<F>> group(const Clusters<F>& clusters, const std::vector<std::uint32_t>& nearest,
                             const std::vector<Member<F>>& rows, int threads, ProgressMeter& progress) {
  std::vector<Member<F>> grouped(rows.size());
  std::vector<std::int64_t> next(clusters.offsets.begin(), clusters.offsets.end() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i) grouped[static_cast<std::size_t>(next[nearest[i]]++)] = rows[i];
  const std::int64_t tasks = (clusters.count() + kClustersOfTask - 1) / kClustersOfTask;
  parallel_for(threads, tasks, [&](std::int64_t task, int worker) {
    progress.check(worker);
    const std::int64_t last = std::min(clusters.count(), (task + 1) * kClustersOfTask);
    for (std::int64_t c = task * kClustersOfTask; c < last; ++c)
      std::sort(grouped.begin() + clusters.first(c), grouped.begin() + clusters.first(c + 1));
  });
  return grouped;
}

template <Element T>
void store_members(const PreparedRows<T>& set, Clusters<DistanceOf<T>>& clusters, int threads,
                   ProgressMeter& progress) {
  using F = DistanceOf<T>;
  const auto count = static_cast<std::int64_t>(clusters.ids.size());
  clusters.rows.resize(static_cast<std::size_t>(block_count<F>(count) * kBlockPoints<F> * clusters.dims));
  const std::int64_t tasks = (count + kRowsOfTask - 1) / kRowsOfTask;
  parallel_for(threads, tasks, [&](std::int64_t task, int worker) {
    progress.check(worker);
    std::vector<F> row(static_cast<std::size_t>(clusters.dims));
    const std::int64_t last = std::min(count, (task + 1) * kRowsOfTask);
    for (std::int64_t at = task * kRowsOfTask; at < last; ++at)
      put_row(working_rows(set, clusters.ids[static_cast<std::size_t>(at)], 1, row.data()).data, clusters.dims, at,
              clusters.rows.data());
  });
}

}  // namespace

template <Element T>
Clusters<DistanceOf<T>> make_clusters(const PreparedRows<T>& set, const Clustering& how, ProgressMeter& progress,
                                      ClusterTimes& times) {
  using F = DistanceOf<T>;
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  };
  const Clock::time_point start = Clock::now();
  Clusters<F> clusters;
  clusters.dims = set.view.cols;
  std::vector<std::int64_t> landmarks = choose_landmarks(set, how.first, how.rows, how.landmarks);
  clusters.centers = block_rows(set, landmarks.data(), how.landmarks);
  const Clock::time_point drawn = Clock::now();

  std::vector<std::uint32_t> nearest(static_cast<std::size_t>(how.rows));
  std::vector<Member<F>> rows(nearest.size());
  assign(set, how, {clusters.centers.data(), how.landmarks, clusters.dims}, progress, nearest, rows);
  landmarks = drop_empty(clusters, std::move(landmarks), nearest);
  clusters.centers = block_rows(set, landmarks.data(), clusters.count());
  const std::vector<Member<F>> grouped = group(clusters, nearest, rows, how.threads, progress);
  clusters.ids.reserve(grouped.size());
  clusters.member_distances.reserve(grouped.size() + static_cast<std::size_t>(kSlack));
  for (const Member<F>& member : grouped) {
    clusters.ids.push_back(member.id);
    clusters.member_distances.push_back(member.distance);
  }
  clusters.member_distances.resize(grouped.size() + static_cast<std::size_t>(kSlack));
  if (how.keep_rows) store_members(set, clusters, how.threads, progress);
  times.landmarks += seconds(start, drawn);
  times.clusters += seconds(drawn, Clock::now());
  return clusters;
}

#define KITH_INSTANTIATE(T)                                                                                 \
  template Clusters<DistanceOf<T>> make_clusters(const PreparedRows<T>&, const Clustering&, ProgressMeter&, \
                                                 ClusterTimes&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
