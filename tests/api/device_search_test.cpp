// Search on the backends for devices: the oracle's answer, whatever the stage, the data and the budget.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/key.hpp"
#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/pairwise.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

// The emulator needs milliseconds for what takes others microseconds.
constexpr Shape kDeviceShapes[] = {{1, 1, 1},   {2, 3, 2},    {7, 5, 3},    {64, 8, 8},
                                   {65, 9, 17}, {257, 1, 33}, {300, 33, 31}};
constexpr std::int64_t kDeviceCounts[] = {1, 2, 10, 100, 1 << 20};  // what is too many becomes all

std::vector<Backend> search_backends() {
  std::vector<Backend> found;
  for (const Backend backend : available_backends())
    if (backend != Backend::cpu) found.push_back(backend);
  return found;
}

class DeviceSearch : public testing::TestWithParam<Backend> {
 protected:
  static Options options(const Metric& metric = MetricKind::euclidean) {
    Options options;
    options.backend = GetParam();
    options.metric = metric;
    return options;
  }
};

template <Element T>
testing::AssertionResult matches(const Case& c, Backend backend) {
  const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
  const Points<T> base(sample.base, c.base_layout);
  const Points<T> queries(sample.queries, c.query_layout);
  Options options = c.options();
  options.backend = backend;
  try {
    const auto got = search(base.view(), queries.view(), c.k, options);
    if (got.report.plan.backend != backend) return testing::AssertionFailure() << "another backend was taken";
    return matches_truth(got, truth_for(sample, c), c.k, agreement_for(c));
  } catch (const Error& error) {
    // Only a product of what is none is refused, and doubles in half precision.
    const core::Form form = core::form_of(c.metric);
    const bool product = form == core::Form::squared || form == core::Form::dot;
    const bool refused = c.distance == DistanceStage::gemm
                             ? !product
                             : c.distance == DistanceStage::fp16 && (!product || c.dtype == DType::float64);
    if (refused && error.code() == ErrorCode::invalid_argument) return testing::AssertionSuccess();
    return testing::AssertionFailure() << error.what();
  }
}

TEST_P(DeviceSearch, EveryPairOfParametersMatchesTheOracle) {
  const std::vector<DistanceStage> stages = distance_stages(GetParam());
  const auto rows = pairwise({all_metrics().size(), all_dtypes().size(), all_kinds().size(), std::size(kDeviceShapes),
                              std::size(kDeviceCounts), all_layouts().size(), all_layouts().size(), stages.size()},
                             11);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::size_t>& row = rows[i];
    Case c;
    c.metric = all_metrics()[row[0]];
    c.dtype = all_dtypes()[row[1]];
    c.kind = all_kinds()[row[2]];
    c.shape = kDeviceShapes[row[3]];
    if (c.metric.kind == MetricKind::correlation) c.shape.dims = std::max<std::int64_t>(c.shape.dims, 2);
    c.k = std::min(kDeviceCounts[row[4]], c.shape.base_rows);
    c.base_layout = all_layouts()[row[5]];
    c.query_layout = all_layouts()[row[6]];
    c.distance = stages[row[7]];
    c.seed = i + 1;
    EXPECT_TRUE(with_dtype(c.dtype, [&]<class T>() { return matches<T>(c, GetParam()); })) << c;
  }
}

// Tiles of both sets, a base that is streamed because its half of the budget cannot hold it, lists joined across tiles.
TEST_P(DeviceSearch, AnyBudgetThatIsEnoughGivesTheSameAnswer) {
  constexpr Shape kShape{900, 25, 12};
  for (const Metric& metric : {Metric(MetricKind::euclidean), Metric(MetricKind::correlation)}) {
    const Sample<float> sample = generate<float>(Kind::gaussian, kShape, metric, 3);
    const Truth<float> truth = truth_of(sample, metric);
    std::int64_t streamed = 0;
    for (const std::int64_t budget : {4 << 20, 1 << 20, 200 << 10, 60 << 10}) {
      Options within = options(metric);
      within.memory_budget = budget;
      const Neighbors<float> got = search(sample.base.view(), sample.queries.view(), 20, within);
      EXPECT_TRUE(matches_truth(got, truth, 20)) << budget << " bytes\n" << got.report.plan;
      streamed += got.report.plan.base_tile < kShape.base_rows ? 1 : 0;
    }
    EXPECT_GT(streamed, 0) << "no budget was small enough to cut the base";
  }
}

// In tiles of which the last is smaller, of every type and layout. Points that lie close together have it streamed
// again.
TEST_P(DeviceSearch, AStreamedBaseMayLieAnyhow) {
  const std::vector<Metric> metrics = {MetricKind::euclidean, MetricKind::cosine, MetricKind::manhattan};
  const std::vector<Kind> kinds = {Kind::gaussian, Kind::clustered, Kind::duplicates};
  const std::vector<std::int64_t> budgets = {24 << 10, 41 << 10};
  const auto rows = pairwise(
      {metrics.size(), kinds.size(), budgets.size(), all_dtypes().size(), all_layouts().size(), all_layouts().size()},
      5);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Case c;
    c.metric = metrics[rows[i][0]];
    c.kind = kinds[rows[i][1]];
    c.budget = budgets[rows[i][2]];
    c.dtype = all_dtypes()[rows[i][3]];
    c.base_layout = all_layouts()[rows[i][4]];
    c.query_layout = all_layouts()[rows[i][5]];
    c.shape = {607, 7, 13};
    c.k = 6;
    c.seed = i + 1;
    Options within = c.options();
    within.backend = GetParam();
    EXPECT_LT(explain({607, 7, 13, 6, c.dtype}, within).base_tile, 200) << c;
    EXPECT_TRUE(with_dtype(c.dtype, [&]<class T>() { return matches<T>(c, GetParam()); })) << c;
  }
}

TEST_P(DeviceSearch, AStreamedBaseCanBeGivenUp) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {900, 5, 8}, MetricKind::euclidean, 3);
  Options within = options();
  within.memory_budget = 30 << 10;
  int calls = 0;
  within.progress = [&](const Progress&) { return ++calls < 3; };
  EXPECT_TRUE(
      fails_with(ErrorCode::cancelled, {}, [&] { search(sample.base.view(), sample.queries.view(), 5, within); }));
  EXPECT_EQ(calls, 3);
}

TEST_P(DeviceSearch, TooSmallABudgetIsNamed) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {500, 4, 8}, MetricKind::euclidean, 3);
  Options within = options();
  within.memory_budget = 1000;
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"1000"},
                         [&] { search(sample.base.view(), sample.queries.view(), 100, within); }));
}

// Products cannot tell neighbors apart that lie close together far from the origin: the proof fails, and differences
// or keys decide.
TEST_P(DeviceSearch, QueriesWithoutAProofClimbTheLadder) {
  constexpr Shape kShape{400, 20, 16};
  for (const Kind kind : {Kind::large_offset, Kind::clustered, Kind::duplicates}) {
    const Sample<float> sample = generate<float>(kind, kShape, MetricKind::sqeuclidean, 5);
    Options products = options(MetricKind::sqeuclidean);
    products.distance = DistanceStage::gemm;
    const Neighbors<float> got = search(sample.base.view(), sample.queries.view(), 8, products);
    EXPECT_TRUE(matches_truth(got, truth_of(sample, MetricKind::sqeuclidean), 8)) << to_string(kind);
    ASSERT_FALSE(got.report.steps.empty());
    EXPECT_EQ(to_string(got.report.steps.front().pass), "gemm");
    EXPECT_EQ(got.report.steps.front().queries, kShape.queries);
    EXPECT_GT(got.report.steps.size(), 1U) << to_string(kind) << ": nothing failed";
  }
}

// Sums of bytes have no error: points that tie with the k-th are settled by their ids, and no proof is missing.
TEST_P(DeviceSearch, TiesOfBytesNeedOneStep) {
  for (const Metric& metric :
       {Metric(MetricKind::sqeuclidean), Metric(MetricKind::manhattan), Metric(MetricKind::inner_product)}) {
    const Sample<std::uint8_t> sample = generate<std::uint8_t>(Kind::ties, {700, 15, 6}, metric, 4);
    Options scores = options(metric);
    scores.distance = DistanceStage::direct;
    const auto got = search(sample.base.view(), sample.queries.view(), 12, scores);
    EXPECT_TRUE(matches_truth(got, truth_of(sample, metric), 12)) << kith::to_string(metric);
    EXPECT_EQ(got.report.steps.size(), 1U) << kith::to_string(metric);
  }
}

// The same for floats that are small integers, in the base and in the queries.
TEST_P(DeviceSearch, TiesOfSmallIntegersNeedOneStep) {
  Sample<float> sample = generate<float>(Kind::ties, {700, 15, 6}, MetricKind::sqeuclidean, 4);
  for (const bool broken : {false, true}) {
    if (broken) sample.queries(3, 1) += 0.1F;
    const Truth<float> truth = truth_of(sample, MetricKind::sqeuclidean);
    Options scores = options(MetricKind::sqeuclidean);
    scores.distance = DistanceStage::direct;
    const auto got = search(sample.base.view(), sample.queries.view(), 12, scores);
    EXPECT_TRUE(matches_truth(got, truth, 12));
    EXPECT_EQ(got.report.steps.size() > 1, broken);
  }
}

TEST_P(DeviceSearch, WellSpreadPointsNeedOneStep) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {500, 20, 16}, MetricKind::sqeuclidean, 5);
  for (const DistanceStage stage :
       {DistanceStage::direct, DistanceStage::tiled, DistanceStage::register_tiled, DistanceStage::gemm}) {
    Options forced = options(MetricKind::sqeuclidean);
    forced.distance = stage;
    const Neighbors<float> got = search(sample.base.view(), sample.queries.view(), 5, forced);
    EXPECT_EQ(got.report.steps.size(), 1U) << stage;
    EXPECT_EQ(got.report.plan.distance, stage);
  }
}

TEST_P(DeviceSearch, EverySelectionMethodGivesTheSameAnswer) {
  const Sample<float> sample = generate<float>(Kind::ties, {300, 6, 5}, MetricKind::manhattan, 4);
  const Truth<float> truth = truth_of(sample, MetricKind::manhattan);
  for (const SelectMethod method : select_methods(GetParam())) {
    Options forced = options(MetricKind::manhattan);
    forced.select = method;
    EXPECT_TRUE(matches_truth(search(sample.base.view(), sample.queries.view(), 12, forced), truth, 12)) << method;
  }
}

// Without a matrix of scores: limits from a sample, rows that break them, metrics that are no products.
TEST_P(DeviceSearch, FusedGivesTheSameAnswer) {
  struct Problem {
    Metric metric;
    Kind kind;
    std::int64_t k;
  };
  constexpr Shape kShape{2500, 5, 10};
  for (const Problem& problem : {Problem{MetricKind::euclidean, Kind::gaussian, 30},
                                 {MetricKind::euclidean, Kind::duplicates, 3},
                                 {MetricKind::manhattan, Kind::descending, 10},
                                 {MetricKind::cosine, Kind::clustered, 1},
                                 {MetricKind::chebyshev, Kind::uniform, kShape.base_rows}}) {
    const Sample<float> sample = generate<float>(problem.kind, kShape, problem.metric, 6);
    Options fused = options(problem.metric);
    fused.method = Method::fused;
    const Neighbors<float> got = search(sample.base.view(), sample.queries.view(), problem.k, fused);
    EXPECT_TRUE(matches_truth(got, truth_of(sample, problem.metric), problem.k))
        << kith::to_string(problem.metric) << ' ' << to_string(problem.kind);
    EXPECT_EQ(to_string(got.report.steps.front().pass), "fused");
    EXPECT_EQ(got.report.plan.method, Method::fused);
  }
  Options wrong = options();
  wrong.method = Method::fused;
  wrong.distance = DistanceStage::gemm;
  const Matrix<float> points(3, 1, {1, 2, 3});
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"fused", "gemm"},
                         [&] { search(points.view(), points.view(), 1, wrong); }));
}

TEST_P(DeviceSearch, ThePlanCanBeReadBefore) {
  const Plan plan = explain({1000000, 10000, 128, 10, DType::float32}, options());
  EXPECT_EQ(plan.backend, GetParam());
  EXPECT_TRUE(plan.method == Method::two_stage || plan.method == Method::fused);
  EXPECT_GT(plan.seconds, 0);
  EXPECT_FALSE(plan.alternatives.empty());
  EXPECT_NE(to_string(plan).find(to_string(plan.distance)), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Backends, DeviceSearch, testing::ValuesIn(search_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceSearch);

}  // namespace
}  // namespace kith::test
