// Search on the backends for devices: the oracle's answer, whatever the stage, the data and the budget.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/key.hpp"
#include "kith/index.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/on_backend.hpp"
#include "support/oracle.hpp"

namespace kith::test {
namespace {

class DeviceSearch : public OnBackend {};

// Only a product of what is none is refused, doubles in half precision, bytes of what are none or are divided by norms,
// and stages that need wgmma on a device without it.
bool may_refuse(const Case& c, bool has_wgmma) {
  using enum DistanceStage;
  const core::Form form = core::form_of(c.metric);
  const bool product = form == core::Form::squared || form == core::Form::dot;
  switch (c.distance) {
    case gemm: return !product;
    case fp16: return !product || c.dtype == DType::float64;
    case split_fp16: return !has_wgmma || !product || c.dtype == DType::float64;
    case int8:
      return !has_wgmma || !product || core::has_directions(c.metric) ||
             (c.dtype != DType::uint8 && c.dtype != DType::int8);
    default: return false;
  }
}

TEST_P(DeviceSearch, EveryPairOfParametersMatchesTheOracle) {
  for (const Case& c : covering_cases({.stages = distance_stages(GetParam())}, GetParam())) {
    try {
      EXPECT_TRUE(search_matches(c)) << c;
    } catch (const Error& error) {
      EXPECT_TRUE(may_refuse(c, has_wgmma()) && error.code() == ErrorCode::invalid_argument) << c << '\n'
                                                                                             << error.what();
    }
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
      const Neighbors<float> got = search(sample, 20, within);
      EXPECT_TRUE(matches_truth(got, truth, 20)) << budget << " bytes\n" << got.report.plan;
      streamed += got.report.plan.base_tile < kShape.base_rows ? 1 : 0;
    }
    EXPECT_GT(streamed, 0) << "no budget was small enough to cut the base";
  }
}

// In tiles of which the last is smaller, of every type and layout. Points that lie close together have it streamed
// again.
TEST_P(DeviceSearch, AStreamedBaseMayLieAnyhow) {
  const Axes axes{.shapes = {{607, 7, 13}},
                  .metrics = {MetricKind::euclidean, MetricKind::cosine, MetricKind::manhattan},
                  .kinds = {Kind::gaussian, Kind::clustered, Kind::duplicates},
                  .counts = {6},
                  .budgets = {24 << 10, 41 << 10}};
  for (const Case& c : covering_cases(axes, GetParam())) {
    EXPECT_LT(explain({607, 7, 13, 6, c.dtype}, c.options()).base_tile, 200) << c;
    EXPECT_TRUE(search_matches(c)) << c;
  }
}

TEST_P(DeviceSearch, AStreamedBaseCanBeGivenUp) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {900, 5, 8}, MetricKind::euclidean, 3);
  Options within = options();
  within.memory_budget = 30 << 10;
  int calls = 0;
  within.progress = [&](const Progress&) { return ++calls < 3; };
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, [&] { search(sample, 5, within); }));
  EXPECT_EQ(calls, 3);
}

TEST_P(DeviceSearch, TooSmallABudgetIsNamed) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {500, 4, 8}, MetricKind::euclidean, 3);
  Options within = options();
  within.memory_budget = 1000;
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"1000"}, [&] { search(sample, 100, within); }));
}

// Products cannot tell neighbors apart that lie close together far from the origin: the proof fails, and differences
// or keys decide.
TEST_P(DeviceSearch, QueriesWithoutAProofClimbTheLadder) {
  constexpr Shape kShape{400, 20, 16};
  for (const Kind kind : {Kind::large_offset, Kind::clustered, Kind::duplicates}) {
    const Sample<float> sample = generate<float>(kind, kShape, MetricKind::sqeuclidean, 5);
    Options products = options(MetricKind::sqeuclidean);
    products.distance = DistanceStage::gemm;
    const Neighbors<float> got = search(sample, 8, products);
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
    const auto got = search(sample, 12, scores);
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
    const auto got = search(sample, 12, scores);
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
    const Neighbors<float> got = search(sample, 5, forced);
    EXPECT_EQ(got.report.steps.size(), 1U) << stage;
    EXPECT_EQ(got.report.plan.distance, stage);
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
    fused.distance = DistanceStage::register_tiled;
    const Neighbors<float> got = search(sample, problem.k, fused);
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

INSTANTIATE_TEST_SUITE_P(Backends, DeviceSearch, testing::ValuesIn(device_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceSearch);

}  // namespace
}  // namespace kith::test
