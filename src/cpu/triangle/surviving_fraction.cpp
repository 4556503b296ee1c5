// surviving_fraction.cpp: draws the sample and counts the pairs that survive.
#include "cpu/triangle/surviving_fraction.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/instantiate.hpp"
#include "core/triangle_sample.hpp"
#include "cpu/triangle/block_rows.hpp"
#include "cpu/triangle/landmarks.hpp"
#include "cpu/triangle/metric_distance.hpp"

namespace kith::cpu {
namespace {

constexpr std::uint64_t kPointSeed = 101;
constexpr std::uint64_t kQuerySeed = 102;

template <class F>
struct SampledPoints {
  std::vector<F> blocks;
  std::vector<std::uint32_t> centers;  // the nearest landmark of each
  std::vector<F> distances;            // to it
  std::vector<F> radii;                // of the landmarks' clusters, within the sample
};

template <Element T>
SampledPoints<DistanceOf<T>> sample_points(const PreparedRows<T>& base, const LaneBlocks<DistanceOf<T>>& landmarks) {
  using F = DistanceOf<T>;
  const std::int64_t count = std::min(base.view.rows, core::kSamplePoints);
  const std::vector<std::int64_t> ids = draw_rows(0, base.view.rows, count, kPointSeed);
  SampledPoints<F> points;
  points.blocks = block_rows(base, ids.data(), count);
  points.centers.resize(ids.size());
  points.distances.resize(ids.size());
  points.radii.resize(static_cast<std::size_t>(landmarks.points));
  std::vector<F> row(static_cast<std::size_t>(landmarks.dims));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Rows<F> rows = working_rows(base, ids[i], 1, row.data());
    nearest_points(core::metric_distance_form(base.metric), base.metric.p, rows, landmarks, &points.centers[i],
                   &points.distances[i]);
    points.distances[i] = metric_distance(base.metric, points.distances[i]);
    F& radius = points.radii[points.centers[i]];
    radius = std::max(radius, points.distances[i]);
  }
  return points;
}

// Computes the distances of a row to all points of a block layout.
template <class F>
void block_distances(const Metric& metric, const F* row, const LaneBlocks<F>& points, std::vector<F>& distances) {
  distances.resize(static_cast<std::size_t>(block_count<F>(points.points) * kBlockPoints<F>));
  block_scores(core::metric_distance_form(metric), metric.p, row, points, distances.data());
  distances.resize(static_cast<std::size_t>(points.points));
  for (F& distance : distances) distance = metric_distance(metric, distance);
}

}  // namespace

template <Element T>
core::SurvivingFractions surviving_fractions(const PreparedRows<T>& base, const PreparedRows<T>& queries,
                                             std::int64_t k, std::int64_t landmarks) {
  using F = DistanceOf<T>;
  const std::int64_t dims = base.view.cols;
  const std::vector<std::int64_t> centers = draw_rows(0, base.view.rows, landmarks, 0);
  const std::vector<F> center_blocks = block_rows(base, centers.data(), landmarks);
  const LaneBlocks<F> center_points{center_blocks.data(), landmarks, dims};
  const SampledPoints<F> points = sample_points(base, center_points);
  const auto point_count = static_cast<std::int64_t>(points.centers.size());
  const std::int64_t query_count = std::min(queries.view.rows, core::kSampleQueries);
  // The neighbor in the sample that stands for the k-th among all points.
  const double rank = static_cast<double>(k) * static_cast<double>(point_count) / static_cast<double>(base.view.rows);
  const auto nth = std::clamp<std::int64_t>(std::llround(rank), 1, point_count) - 1;

  std::vector<F> row(static_cast<std::size_t>(dims));
  std::vector<F> distances;
  std::vector<F> center_distances;
  std::int64_t points_left = 0;
  std::int64_t clusters_left = 0;
  for (const std::int64_t query : draw_rows(0, queries.view.rows, query_count, kQuerySeed)) {
    const F* x = working_rows(queries, query, 1, row.data()).data;
    block_distances(base.metric, x, {points.blocks.data(), point_count, dims}, distances);
    block_distances(base.metric, x, center_points, center_distances);
    std::nth_element(distances.begin(), distances.begin() + nth, distances.end());
    const F search_bound = distances[static_cast<std::size_t>(nth)];
    for (std::size_t i = 0; i < points.centers.size(); ++i)
      points_left += std::abs(center_distances[points.centers[i]] - points.distances[i]) > search_bound ? 0 : 1;
    for (std::size_t i = 0; i < center_distances.size(); ++i)
      clusters_left += center_distances[i] - points.radii[i] > search_bound ? 0 : 1;
  }
  const auto fraction = [&](std::int64_t left, std::int64_t all) {
    return static_cast<double>(left) / static_cast<double>(all * query_count);
  };
  return {fraction(points_left, point_count), fraction(clusters_left, landmarks)};
}

#define KITH_INSTANTIATE(T)                                                                                           \
  template core::SurvivingFractions surviving_fractions(const PreparedRows<T>&, const PreparedRows<T>&, std::int64_t, \
                                                        std::int64_t);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
