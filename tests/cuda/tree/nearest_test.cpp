// Method tree gives the answer of a plain oracle for all metrics, data and lengths of lists.
#include <cmath>
#include <limits>

#include "tree/tree_points.hpp"

namespace kith::test::tree {
namespace {

using TreeNearest = DeviceTest;

const Metric kMetrics[] = {MetricKind::sqeuclidean, MetricKind::euclidean, MetricKind::manhattan, MetricKind::chebyshev,
                           Metric::minkowski(3)};

struct Sizes {
  std::int64_t rows, queries, dims;
};
constexpr Sizes kSizes[] = {{1, 2, 2},    {32, 5, 1},   {33, 3, 3},    {700, 9, 2},
                            {1100, 7, 3}, {1500, 5, 5}, {1300, 4, 21}, {5000, 4, 3}};
constexpr std::int64_t kCounts[] = {1, 2, 10, 32, 50, 200, 1 << 20};  // the last is all
constexpr Cloud kKinds[] = {Cloud::gaussian,    Cloud::uniform,   Cloud::clustered, Cloud::ties,  Cloud::line,
                            Cloud::duplicates,  Cloud::all_equal, Cloud::flat,      Cloud::tight, Cloud::far_away,
                            Cloud::anisotropic, Cloud::huge,      Cloud::tiny};

// Third powers of these underflow or overflow.
bool is_extreme(Cloud kind) {
  return kind == Cloud::huge || kind == Cloud::tiny;
}

template <class T>
void expect_exact(const std::vector<std::size_t>& row, unsigned seed) {
  const Sizes& sizes = kSizes[row[1]];
  const Wanted wanted{kMetrics[row[0]], std::min(kCounts[row[2]], sizes.rows), row[4] == 0 ? 1 << 20 : 3};
  Cloud kind = kKinds[row[3]];
  // Powers that are almost equal may have another order on the device.
  if (is_extreme(kind) && wanted.metric.kind == MetricKind::minkowski) kind = Cloud::gaussian;
  SCOPED_TRACE(testing::Message() << "metric " << row[0] << ", " << sizes.rows << " × " << sizes.dims << ", k "
                                  << wanted.k << ", kind " << row[3] << (sizeof(T) == 8 ? ", double" : ", float"));
  Searched<T> searched(cloud<T>(kind, sizes.rows, sizes.dims, seed, row[4] == 0 ? RowLayout{} : RowLayout{1, 3}),
                       wanted.metric);
  searched.search(cloud<T>(kind, sizes.queries, sizes.dims, seed + 1), wanted);
}

TEST_F(TreeNearest, EveryPairOfParametersMatchesTheOracle) {
  for_each_pair({std::size(kMetrics), std::size(kSizes), std::size(kCounts), std::size(kKinds), 2}, 5,
                []<class T>(const auto& row, unsigned seed_of_row) { expect_exact<T>(row, seed_of_row); });
}

TEST_F(TreeNearest, ABaseSearchesItself) {
  for_each_schedule([] {
    for (const Cloud kind : {Cloud::uniform, Cloud::duplicates}) {
      Searched<float> searched(cloud<float>(kind, 220, 3, 3), MetricKind::euclidean);
      searched.search_self({MetricKind::euclidean, 12});
    }
  });
}

// k for every length of lists in registers, and for several walks.
TEST_F(TreeNearest, LargeK) {
  Searched<float> searched(cloud<float>(Cloud::ties, 2100, 3, 1), MetricKind::manhattan);
  for (const std::int64_t k : {33, 128, 129, 1024, 1025, 2100})
    searched.search(cloud<float>(Cloud::ties, 3, 3, 2), {MetricKind::manhattan, k});
  Searched<double> wide(cloud<double>(Cloud::gaussian, 1100, 3, 1), MetricKind::euclidean);
  for (const std::int64_t k : {200, 1050})
    wide.search(cloud<double>(Cloud::gaussian, 2, 3, 2), {MetricKind::euclidean, k});
}

// Many queries are sorted by their leaves, few are not.
TEST_F(TreeNearest, QueriesInOrderAndInNone) {
  Searched<float> searched(cloud<float>(Cloud::uniform, 3000, 2, 1), MetricKind::euclidean);
  const auto queries = cloud<float>(Cloud::uniform, 2500, 2, 2);
  searched.search(queries, {MetricKind::euclidean, 4});
  searched.search(queries, {MetricKind::euclidean, 4, 2100});
}

// Levels of boxes above that of the leaves.
TEST_F(TreeNearest, ManyPoints) {
  const std::int64_t rows = under_sanitizer() ? 3000 : 40000;
  for (const Cloud kind : {Cloud::uniform, Cloud::clustered}) {
    Searched<float> searched(cloud<float>(kind, rows, 3, 1), MetricKind::euclidean);
    searched.search(cloud<float>(kind, 20, 3, 2), {MetricKind::euclidean, 10});
  }
}

// One far point; points whose distances from a corner fall by powers of two.
TEST_F(TreeNearest, OutliersAndManyScales) {
  auto points = cloud<float>(Cloud::uniform, 3000, 3, 1);
  points.at(1234, 1) = 1e30F;
  Searched<float> outlier(points, MetricKind::euclidean);
  outlier.search(cloud<float>(Cloud::uniform, 20, 3, 2), {MetricKind::euclidean, 10});
  for (std::int64_t i = 0; i < points.rows; ++i)
    for (std::int64_t c = 0; c < points.dims; ++c)
      points.at(i, c) = std::ldexp(cloud<float>(Cloud::uniform, 1, 3, static_cast<unsigned>(i)).at(0, c),
                                   static_cast<int>(i % 100) - 80);
  Searched<float> scales(points, MetricKind::euclidean);
  scales.search(points, {MetricKind::euclidean, 3});
}

TEST_F(TreeNearest, NotANumberUncheckedGivesNumbersOfPoints) {
  auto base = cloud<float>(Cloud::gaussian, 200, 2, 1);
  base.values[0] = base.values[77] = std::numeric_limits<float>::quiet_NaN();
  Searched<float> searched(base, MetricKind::euclidean, false);
  for (const std::int64_t id : searched.ids(cloud<float>(Cloud::gaussian, 20, 2, 2), {MetricKind::euclidean, 5}))
    EXPECT_LT(id, 200);
}

TEST_F(TreeNearest, RefusesWhatIsNotFinite) {
  Searched<float> searched(cloud<float>(Cloud::gaussian, 300, 3, 1), MetricKind::euclidean);
  auto queries = cloud<float>(Cloud::gaussian, 5, 3, 2);
  queries.values[10] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(searched.search(queries, {MetricKind::euclidean, 2}), Error);
}

}  // namespace
}  // namespace kith::test::tree
