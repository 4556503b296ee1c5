// Search of points on the device gives the answer of a plain oracle for all metrics, stages, strides and streams.
#include <limits>

#include "core/key.hpp"
#include "searched.hpp"

namespace kith::test {
namespace {

using device::Stream;

using DeviceBruteSearch = DeviceTest;

constexpr Cloud kKinds[] = {Cloud::gaussian, Cloud::ties, Cloud::tight};

bool is_square(const Metric& metric) {
  return core::form_of(metric) == core::Form::squared;
}

bool is_product(const Metric& metric) {
  return core::form_of(metric) == core::Form::dot;
}

struct Wanted {
  Metric metric;
  std::int64_t k = 1;
  Plan::Pass first{DistanceStage::direct};
  std::int64_t query_block = 1 << 20;
  std::int64_t base_tile = 1 << 20;
  bool tries_passes = false;

  Plan plan_for(const Problem& problem) const {
    Plan plan = brute_plan(problem, metric, {first.distance, first.expanded && is_square(metric), first.fused});
    plan.tries_passes = tries_passes;
    plan.candidates = std::min(problem.base_rows, k + std::max<std::int64_t>(6, k / 4));
    plan.query_block = std::min(problem.queries, query_block);
    plan.base_tile = std::min(problem.base_rows, base_tile);
    return plan;
  }
};

template <class T>
using Searched = SearchedPoints<T, Wanted>;

const Metric kMetrics[] = {MetricKind::sqeuclidean, MetricKind::euclidean,     MetricKind::manhattan,
                           MetricKind::chebyshev,   Metric::minkowski(3),      MetricKind::cosine,
                           MetricKind::correlation, MetricKind::inner_product, MetricKind::hamming,
                           MetricKind::canberra};
constexpr Plan::Pass kGemm{DistanceStage::gemm, true};
constexpr Plan::Pass kStages[] = {{DistanceStage::direct},
                                  {DistanceStage::tiled},
                                  {DistanceStage::register_tiled},
                                  {DistanceStage::register_tiled, true},
                                  kGemm,
                                  {DistanceStage::register_tiled, false, true}};

struct Sizes {
  std::int64_t rows, queries, dims;
};
constexpr Sizes kSizes[] = {{1, 1, 2}, {40, 7, 3}, {130, 9, 17}, {257, 20, 33}};
constexpr std::int64_t kCounts[] = {1, 10, 1 << 20};  // the last is all
constexpr std::int64_t kRooms[] = {0, 3};
constexpr std::int64_t kTiles[] = {50, 1 << 20};

template <class T>
void expect_exact(const std::vector<std::size_t>& row, unsigned seed) {
  Wanted wanted{kMetrics[row[0]], 1, kStages[row[1]], 6, kTiles[row[6]]};
  const bool product = is_square(wanted.metric) || is_product(wanted.metric);
  if (wanted.first == kGemm && !product) wanted.first = {DistanceStage::register_tiled};
  const Sizes& sizes = kSizes[row[2]];
  wanted.k = std::min(kCounts[row[3]], sizes.rows);
  // Powers that are almost equal may have another order on the device.
  const Cloud kind = wanted.metric.kind == MetricKind::minkowski ? Cloud::gaussian : kKinds[row[7]];
  SCOPED_TRACE(testing::Message() << "metric " << row[0] << ", " << to_string(wanted.first)
                                  << (wanted.first.expanded ? " by products" : "") << ", " << sizes.rows << " × "
                                  << sizes.dims << ", k " << wanted.k << ", gaps " << kRooms[row[4]] << " and "
                                  << kRooms[row[5]] << ", tiles of " << wanted.base_tile << ", kind " << row[7]
                                  << (sizeof(T) == 8 ? ", double" : ", float"));
  const auto base = cloud<T>(kind, sizes.rows, sizes.dims, seed, {1, kRooms[row[4]]});
  const auto queries = cloud<T>(kind, sizes.queries, sizes.dims, seed + 1, {1, kRooms[row[5]]});
  const Stream stream;
  Searched<T>(base, wanted.metric).search(queries, wanted, stream);
}

TEST_F(DeviceBruteSearch, EveryPairOfParametersMatchesTheOracle) {
  for_each_pair({std::size(kMetrics), std::size(kStages), std::size(kSizes), std::size(kCounts), std::size(kRooms),
                 std::size(kRooms), std::size(kTiles), std::size(kKinds)},
                5, []<class T>(const auto& row, unsigned seed_of_row) { expect_exact<T>(row, seed_of_row); });
}

TEST_F(DeviceBruteSearch, EveryK) {
  const auto base = cloud<float>(Cloud::ties, 45, 6, 1, {1, 2});
  const auto queries = cloud<float>(Cloud::ties, 4, 6, 2, kShifted);
  const Searched<float> searched(base, MetricKind::euclidean);
  for (std::int64_t k = 1; k <= base.rows; ++k)
    searched.search(queries, {MetricKind::euclidean, k, {DistanceStage::tiled}});
}

TEST_F(DeviceBruteSearch, ABaseSearchesItself) {
  for (const std::int64_t gap : {0, 1}) {
    const Searched<double> searched(cloud<double>(Cloud::gaussian, 150, 9, 4, {1, gap}), MetricKind::sqeuclidean);
    searched.search_self({MetricKind::sqeuclidean, 4, kGemm, 64, 1 << 20});
  }
}

// Queries without a certificate are gathered, from rows with gaps too.
TEST_F(DeviceBruteSearch, QueriesFallBackToTheNextPass) {
  const auto base = cloud<float>(Cloud::tight, 200, 12, 1, {1, 1});
  const Searched<float> searched(base, MetricKind::sqeuclidean);
  for (const std::int64_t gap : {0, 3}) {
    const SearchReport report =
        searched.search(cloud<float>(Cloud::tight, 9, 12, 2, {1, gap}), {MetricKind::sqeuclidean, 5, kGemm});
    ASSERT_GT(report.steps.size(), 1U);
    EXPECT_EQ(to_string(report.steps[0].pass), "gemm");
    EXPECT_EQ(report.steps[0].queries, 9);
    EXPECT_GT(report.steps[1].queries, 0);
    EXPECT_GE(report.finalists, 9 * 5);
  }
}

// In a long search of many queries a sample tries the pass first; in a short one all take it.
TEST_F(DeviceBruteSearch, ATrialChoosesThePass) {
  constexpr std::int64_t kQueries = 260;
  for (const bool tries : {false, true}) {
    const Wanted wanted{MetricKind::sqeuclidean, 4, kGemm, 1 << 20, 1 << 20, tries};
    const Searched<float> tight(cloud<float>(Cloud::tight, 150, 16, 1, kShifted), MetricKind::sqeuclidean);
    const SearchReport refused = tight.search(cloud<float>(Cloud::tight, kQueries, 16, 2, kShifted), wanted);
    ASSERT_GE(refused.steps.size(), 2U);
    EXPECT_EQ(to_string(refused.steps[0].pass), "gemm");
    EXPECT_EQ(refused.steps[0].queries < kQueries, tries);
    EXPECT_EQ(to_string(refused.steps[1].pass), "register-tiled");

    const Searched<float> spread(cloud<float>(Cloud::gaussian, 150, 16, 1, kShifted), MetricKind::sqeuclidean);
    const SearchReport taken = spread.search(cloud<float>(Cloud::gaussian, kQueries, 16, 2, kShifted), wanted);
    EXPECT_EQ(to_string(taken.steps[0].pass), "gemm");
    EXPECT_EQ(taken.steps[0].queries, kQueries);
  }
}

// One index is searched on several streams, the default one included.
TEST_F(DeviceBruteSearch, OnAnyStream) {
  const Searched<float> searched(cloud<float>(Cloud::gaussian, 120, 8, 1, kShifted), MetricKind::cosine);
  const Stream one;
  const Stream other;
  for (cudaStream_t stream : {static_cast<cudaStream_t>(one), static_cast<cudaStream_t>(other), cudaStream_t{}})
    for (const DistanceStage stage : {DistanceStage::gemm, DistanceStage::direct})
      searched.search(cloud<float>(Cloud::gaussian, 6, 8, 3, kShifted), {MetricKind::cosine, 7, {stage}}, stream);
}

TEST_F(DeviceBruteSearch, RefusesWhatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Wanted wanted{MetricKind::manhattan, 2, {DistanceStage::tiled}};
  for (const std::int64_t gap : {0, 2}) {
    auto base = cloud<double>(Cloud::gaussian, 700, 5, 1, {1, gap});
    auto queries = cloud<double>(Cloud::gaussian, 9, 5, 2, {1, gap});
    const Searched<double> searched(base, wanted.metric);
    queries.at(7, 4) = -infinity;
    queries.at(3, 2) = infinity;
    EXPECT_EQ(refusal(ErrorCode::bad_data, [&] { searched.search(queries, wanted); }),
              "query row 3, column 2 is inf; values must be finite (check_finite)");
    base.at(600, 0) = std::numeric_limits<double>::quiet_NaN();
    base.at(699, 4) = infinity;
    EXPECT_EQ(refusal(ErrorCode::bad_data, [&] { Searched<double>(base, wanted.metric); }),
              "base row 600, column 0 is nan; values must be finite (check_finite)");
    EXPECT_NO_THROW(Searched<double>(base, wanted.metric, false));
  }
}

TEST_F(DeviceBruteSearch, RefusesWhatHasNoDirection) {
  const Wanted by_cosine{MetricKind::cosine, 2, {DistanceStage::tiled}};
  const Wanted by_correlation{MetricKind::correlation, 2, kGemm};
  for (const std::int64_t gap : {0, 2}) {
    auto base = cloud<float>(Cloud::gaussian, 50, 4, 1, {1, gap});
    auto queries = cloud<float>(Cloud::gaussian, 9, 4, 2, {1, gap});
    const Searched<float> cosine(base, MetricKind::cosine, false);
    const Searched<float> correlation(base, MetricKind::correlation);
    for (std::int64_t c = 0; c < 4; ++c) queries.at(5, c) = base.at(11, c) = 0;
    EXPECT_EQ(refusal(ErrorCode::bad_data, [&] { cosine.search(queries, by_cosine); }),
              "query row 5 has length zero; cosine needs a direction");
    for (std::int64_t c = 0; c < 4; ++c) queries.at(4, c) = 0.1F;
    EXPECT_EQ(refusal(ErrorCode::bad_data, [&] { correlation.search(queries, by_correlation); }),
              "query row 4 is constant; correlation needs a varying vector");
    EXPECT_EQ(refusal(ErrorCode::bad_data, [&] { Searched<float>(base, MetricKind::cosine, false); }),
              "base row 11 has length zero; cosine needs a direction");
  }
}

}  // namespace
}  // namespace kith::test
