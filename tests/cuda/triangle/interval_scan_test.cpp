// Method triangle, form interval-scan, gives the answer of a plain oracle for all metrics, data and clusters.
#include <cmath>
#include <limits>

#include "triangle/triangle_points.hpp"

namespace kith::test::triangle {
namespace {

using TriangleIntervalScan = DeviceTest;

const Metric kMetrics[] = {MetricKind::sqeuclidean, MetricKind::euclidean, MetricKind::manhattan,
                           MetricKind::chebyshev,   Metric::minkowski(3),  MetricKind::cosine,
                           MetricKind::correlation, MetricKind::hamming,   MetricKind::canberra};

struct Sizes {
  std::int64_t rows, queries, dims;
};
constexpr Sizes kSizes[] = {{1, 2, 2}, {110, 14, 3}, {200, 6, 5}, {90, 7, 37}};
constexpr std::int64_t kCounts[] = {1, 10, 50, 1 << 20};   // the last is all
constexpr std::int64_t kLandmarks[] = {0, 1, 7, 1 << 20};  // the default, one cluster, few, a cluster a point
constexpr int kThreads[] = {1, 64, 256};
constexpr Cloud kKinds[] = {Cloud::gaussian,  Cloud::clustered, Cloud::ties, Cloud::duplicates, Cloud::line,
                            Cloud::all_equal, Cloud::tight,     Cloud::huge, Cloud::tiny};

// Third powers of these underflow or overflow.
bool is_extreme(Cloud kind) {
  return kind == Cloud::huge || kind == Cloud::tiny;
}

template <class T>
void expect_exact(const std::vector<std::size_t>& row, unsigned seed) {
  const Sizes& sizes = kSizes[row[1]];
  Wanted wanted{kMetrics[row[0]], std::min(kCounts[row[2]], sizes.rows), {}, 0, row[7] == 1};
  wanted.tuning.base_landmarks = kLandmarks[row[3]];
  wanted.tuning.query_landmarks = kLandmarks[row[4]];
  wanted.tuning.threads_per_query = kThreads[row[5]];
  Cloud kind = kKinds[row[6]];
  // Powers that are almost equal may have another order on the device.
  if (is_extreme(kind) && wanted.metric.kind == MetricKind::minkowski) kind = Cloud::gaussian;
  SCOPED_TRACE(testing::Message() << "metric " << row[0] << ", " << sizes.rows << " × " << sizes.dims << ", k "
                                  << wanted.k << ", landmarks " << wanted.tuning.base_landmarks << " and "
                                  << wanted.tuning.query_landmarks << ", threads " << wanted.tuning.threads_per_query
                                  << ", kind " << row[6] << (sizeof(T) == 8 ? ", double" : ", float"));
  Searched<T> searched(cloud<T>(kind, sizes.rows, sizes.dims, seed), wanted.metric);
  searched.search(cloud<T>(kind, sizes.queries, sizes.dims, seed + 1), wanted);
}

TEST_F(TriangleIntervalScan, EveryPairOfParametersMatchesTheOracle) {
  for_each_pair({std::size(kMetrics), std::size(kSizes), std::size(kCounts), std::size(kLandmarks),
                 std::size(kLandmarks), std::size(kThreads), std::size(kKinds), 2},
                5, []<class T>(const auto& row, unsigned seed_of_row) { expect_exact<T>(row, seed_of_row); });
}

TEST_F(TriangleIntervalScan, ABaseSearchesItself) {
  for_each_schedule([] {
    for (const Cloud kind : {Cloud::clustered, Cloud::duplicates}) {
      Searched<float> searched(cloud<float>(kind, 220, 4, 3), MetricKind::euclidean);
      const SearchReport report = searched.search_self({MetricKind::euclidean, 12, {}, 0, true});
      ASSERT_TRUE(report.triangle.has_value());
      EXPECT_EQ(report.triangle->query_clusters, report.triangle->base_clusters);
    }
  });
}

// k for every length of lists in registers, and for rows of survivors, where no list can hold k.
TEST_F(TriangleIntervalScan, LargeK) {
  Searched<float> searched(cloud<float>(Cloud::ties, 1300, 3, 1), MetricKind::manhattan);
  for (const std::int64_t k : {33, 129, 1024, 1025, 1300})
    searched.search(cloud<float>(Cloud::ties, 3, 3, 2), {MetricKind::manhattan, k, {}, 0, false});
  Searched<double> wide(cloud<double>(Cloud::gaussian, 1100, 34, 1), MetricKind::cosine);
  for (const std::int64_t k : {200, 257, 1050})
    wide.search(cloud<double>(Cloud::gaussian, 2, 34, 2), {MetricKind::cosine, k, {}, 0, false});
}

// Survivors take a quarter of the budget: the selection needs more memory than the tile was planned for.
TEST_F(TriangleIntervalScan, LargeKInTilesWhereMemoryIsShort) {
  constexpr std::int64_t kMany = 2600;
  Searched<double> searched(cloud<double>(Cloud::gaussian, 4000, 4, 1), MetricKind::euclidean);
  const auto queries = cloud<double>(Cloud::gaussian, 6, 4, 2);
  for (const std::int64_t queries_at_once : {2, 4})
    searched.search(queries, {MetricKind::euclidean, kMany, {}, queries_at_once * 800000, false});
  EXPECT_THROW(searched.search(queries, {MetricKind::euclidean, kMany, {}, 4 << 13, false}), Error);
}

// A landmark with NaN is the nearest of no point.
TEST_F(TriangleIntervalScan, NotANumberUncheckedGivesNumbersOfPoints) {
  auto base = cloud<float>(Cloud::gaussian, 200, 1, 1);
  base.values[0] = base.values[77] = std::numeric_limits<float>::quiet_NaN();
  TriangleTuning tuning;
  tuning.base_landmarks = 200;
  for (const Metric& metric : {Metric(MetricKind::chebyshev), Metric(MetricKind::euclidean)}) {
    Searched<float> searched(base, metric, false);
    for (const std::int64_t id : searched.ids(cloud<float>(Cloud::gaussian, 20, 1, 2), {metric, 5, tuning, 0, false}))
      EXPECT_LT(id, 200);
  }
}

TEST_F(TriangleIntervalScan, QueriesInPartsWhereMemoryIsShort) {
  Searched<float> searched(cloud<float>(Cloud::clustered, 400, 6, 1), MetricKind::euclidean);
  const auto queries = cloud<float>(Cloud::clustered, 90, 6, 2);
  const auto clusters = [&](std::int64_t bytes) {
    return searched.search(queries, {MetricKind::euclidean, 5, {}, bytes, true}).triangle->query_clusters;
  };
  // Each part of the queries has its own landmarks, so that there are more in all.
  EXPECT_GT(clusters(6000), clusters(60000));
  searched.search_self({MetricKind::euclidean, 5, {}, 6000, false});
}

TEST_F(TriangleIntervalScan, CountsWhatItDoes) {
  Searched<float> searched(cloud<float>(Cloud::clustered, 600, 3, 1), MetricKind::euclidean);
  const SearchReport report =
      searched.search(cloud<float>(Cloud::clustered, 50, 3, 2), {MetricKind::euclidean, 4, {}, 0, true});
  ASSERT_TRUE(report.triangle.has_value());
  const TriangleStatistics& counted = *report.triangle;
  EXPECT_EQ(counted.pairs, 600 * 50);
  EXPECT_LE(counted.pairs_level_1, counted.pairs);
  EXPECT_LE(counted.distances, counted.pairs_level_1);
  EXPECT_GE(counted.distances, 50 * 4);
  EXPECT_GT(counted.saved(), 0.5);
  EXPECT_LE(counted.cluster_pairs_left, counted.query_clusters * counted.base_clusters);
  EXPECT_GE(counted.clusters_visited, 50);
  EXPECT_GE(counted.center_distances, counted.clusters_visited);
  std::vector<std::string> names;
  for (const TriangleStatistics::Step& step : counted.steps) names.push_back(step.name);
  EXPECT_EQ(names, (std::vector<std::string>{"landmarks", "clusters", "landmarks of queries", "clusters of queries",
                                             "level 1", "level 2"}));
}

// Of queries in the rows of a view, by the parts of a plan that it depends on.
template <Element T>
double surviving_fraction(const Searched<T>& searched, const MatrixView<T>& queries, std::int64_t k) {
  Plan plan;
  plan.problem.k = k;
  plan.metric = searched.metric();
  plan.triangle.base_landmarks = static_cast<std::int64_t>(3 * std::sqrt(static_cast<double>(searched.view().rows)));
  return searched.begin(queries)->samples().surviving_fractions(plan).points;
}

template <Element T>
double surviving_fraction(const Searched<T>& searched, const PointSet<T>& queries, std::int64_t k) {
  DeviceArray<T> there(queries.values, searched.stream());
  return surviving_fraction(searched, queries.on_device(there.data()), k);
}

TEST_F(TriangleIntervalScan, ASampleEstimatesTheSurvivingFraction) {
  const Searched<float> clustered(cloud<float>(Cloud::clustered, 900, 4, 1), MetricKind::euclidean);
  EXPECT_LT(surviving_fraction(clustered, cloud<float>(Cloud::clustered, 20, 4, 2), 3), 0.3);
  EXPECT_LT(surviving_fraction(clustered, clustered.view(), 3), 0.3);
  const Searched<double> spread(cloud<double>(Cloud::gaussian, 500, 40, 1), MetricKind::cosine);
  EXPECT_GT(surviving_fraction(spread, cloud<double>(Cloud::gaussian, 20, 40, 2), 5), 0.7);
  // More points than members of the sample, and fewer queries than lanes.
  const Searched<float> many(cloud<float>(Cloud::clustered, 5000, 4, 1), MetricKind::euclidean);
  EXPECT_LT(surviving_fraction(many, cloud<float>(Cloud::clustered, 3, 4, 2), 3), 0.3);
  EXPECT_LT(surviving_fraction(many, many.view(), 3), 0.3);
}

TEST_F(TriangleIntervalScan, RefusesWhatIsNotFinite) {
  Searched<float> searched(cloud<float>(Cloud::gaussian, 300, 3, 1), MetricKind::euclidean);
  auto queries = cloud<float>(Cloud::gaussian, 5, 3, 2);
  queries.values[10] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(searched.search(queries, {MetricKind::euclidean, 2, {}, 0, false}), Error);
}

TEST_F(TriangleIntervalScan, RefusesMoreThreadsThanItHas) {
  Searched<float> searched(cloud<float>(Cloud::gaussian, 30, 3, 1), MetricKind::euclidean);
  Wanted wanted{MetricKind::euclidean, 2, {}, 0, false};
  wanted.tuning.threads_per_query = 512;
  EXPECT_THROW(searched.search(cloud<float>(Cloud::gaussian, 3, 3, 2), wanted), Error);
}

}  // namespace
}  // namespace kith::test::triangle
