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
  const std::int64_t count = core::cpu_sample_points(base.view.rows);
  const std::vector<std::int64_t> ids = draw_rows(0, base.view.rows, count, kPointSeed);
  const std::int64_t dims = base.view.cols;
  std::vector<F> rows(static_cast<std::size_t>(count * dims));
  std::vector<F> row(static_cast<std::size_t>(dims));
  for (std::int64_t i = 0; i < count; ++i)
    std::copy_n(working_rows(base, ids[static_cast<std::size_t>(i)], 1, row.data()).data, dims, rows.data() + i * dims);

  SampledPoints<F> points;
  points.blocks.resize(static_cast<std::size_t>(block_count<F>(count) * kBlockPoints<F> * dims));
  for (std::int64_t i = 0; i < count; ++i) put_row(rows.data() + i * dims, dims, i, points.blocks.data());
  points.centers.resize(ids.size());
  points.distances.resize(ids.size());
  points.radii.resize(static_cast<std::size_t>(landmarks.points));
  nearest_points(core::metric_distance_form(base.metric), base.metric.p, Rows<F>{rows.data(), count, dims}, landmarks,
                 points.centers.data(), points.distances.data());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    points.distances[i] = metric_distance(base.metric, points.distances[i]);
    F& radius = points.radii[points.centers[i]];
    radius = std::max(radius, points.distances[i]);
  }
  return points;
}

// Computes the scores of a row and all points of a block layout.
template <class F>
void scores_of(const Metric& metric, const F* row, const LaneBlocks<F>& points, std::vector<F>& scores) {
  scores.resize(static_cast<std::size_t>(block_count<F>(points.points) * kBlockPoints<F>));
  block_scores(core::metric_distance_form(metric), metric.p, row, points, scores.data());
  scores.resize(static_cast<std::size_t>(points.points));
}

// Brings the first `count` scores to the front, in order where they are few; turns those into distances.
template <class F>
void first_distances(const Metric& metric, std::size_t count, std::vector<F>& scores) {
  constexpr std::size_t kFew = 32;
  const auto last = scores.begin() + static_cast<std::ptrdiff_t>(count);
  if (count <= kFew) {
    std::partial_sort(scores.begin(), last, scores.end());
  } else {
    std::nth_element(scores.begin(), last - 1, scores.end());
  }
  scores.resize(count);
  for (F& score : scores) score = metric_distance(metric, score);
}

// Of a query's distances to the points of a sample, ascending.
constexpr std::size_t kNearest = 4;

// How many dimensions the points fill near the queries, by the first and the last of each query's nearest distances:
// their logarithms differ by (1 + 1/2 + 1/3) / dimensions on average where points have the same density.
template <class F>
double local_dimensions(const std::vector<std::vector<F>>& nearest) {
  constexpr double kDifference = 1 + 1.0 / 2 + 1.0 / 3;
  double sum = 0;
  double count = 0;
  for (const std::vector<F>& distances : nearest) {
    if (distances.size() < kNearest || !(distances.front() > 0)) continue;
    sum += std::log(static_cast<double>(distances.back()) / static_cast<double>(distances.front()));
    ++count;
  }
  constexpr double kMost = 1000;  // distances are all but equal
  return sum * kMost > kDifference * count ? kDifference * count / sum : kMost;
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
  const std::int64_t query_count = std::min(queries.view.rows, core::kCpuSampleQueries);
  // Of the k-th neighbor among the points of the sample; below 1 where the sample has none as near.
  const double rank = static_cast<double>(k) * static_cast<double>(point_count) / static_cast<double>(base.view.rows);
  const auto nth = std::clamp<std::int64_t>(std::llround(rank), 1, point_count);

  std::vector<F> row(static_cast<std::size_t>(dims));
  std::vector<std::vector<F>> center_distances(static_cast<std::size_t>(query_count));
  std::vector<std::vector<F>> nearest(center_distances.size());
  std::vector<std::vector<F>> first_few(center_distances.size());
  const std::vector<std::int64_t> sampled = draw_rows(0, queries.view.rows, query_count, kQuerySeed);
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    const F* x = working_rows(queries, sampled[i], 1, row.data()).data;
    scores_of(base.metric, x, center_points, center_distances[i]);
    for (F& distance : center_distances[i]) distance = metric_distance(base.metric, distance);
    scores_of(base.metric, x, {points.blocks.data(), point_count, dims}, nearest[i]);
    first_few[i].resize(std::min(kNearest, nearest[i].size()));
    std::partial_sort_copy(nearest[i].begin(), nearest[i].end(), first_few[i].begin(), first_few[i].end());
    for (F& score : first_few[i]) score = metric_distance(base.metric, score);
    first_distances(base.metric, static_cast<std::size_t>(nth), nearest[i]);
  }
  const double dimensions = local_dimensions(first_few);
  // Nearer neighbors than the sample has: distances grow with the rank to the power of 1 / dimensions.
  const double shrunk = rank < 1 ? std::pow(rank, 1 / dimensions) : 1;

  std::int64_t points_left = 0;
  std::int64_t clusters_left = 0;
  for (std::size_t query = 0; query < sampled.size(); ++query) {
    const F kth = nearest[query][static_cast<std::size_t>(nth - 1)];
    const auto search_bound = static_cast<F>(shrunk * static_cast<double>(kth));
    const std::vector<F>& to_centers = center_distances[query];
    for (std::size_t i = 0; i < points.centers.size(); ++i)
      points_left += std::abs(to_centers[points.centers[i]] - points.distances[i]) > search_bound ? 0 : 1;
    for (std::size_t i = 0; i < to_centers.size(); ++i)
      clusters_left += to_centers[i] - points.radii[i] > search_bound ? 0 : 1;
  }
  const auto fraction = [&](std::int64_t left, std::int64_t all) {
    return static_cast<double>(left) / static_cast<double>(all * query_count);
  };
  return {fraction(points_left, point_count), fraction(clusters_left, landmarks), dimensions};
}

#define KITH_INSTANTIATE(T)                                                                                           \
  template core::SurvivingFractions surviving_fractions(const PreparedRows<T>&, const PreparedRows<T>&, std::int64_t, \
                                                        std::int64_t);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
