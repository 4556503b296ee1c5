// Promise 1, exact means exact: every metric, element type, kind of data, layout, k, distance stage and number of
// threads against the oracle, in pairwise coverage.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kith/search.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"

namespace kith::test {
namespace {

// A stage may refuse a problem, but only when it was forced, and then it says which stage and why.
testing::AssertionResult is_clear_refusal(const Case& c, const Error& error) {
  const std::string message = error.what();
  if (c.distance == DistanceStage::automatic) return testing::AssertionFailure() << "auto refused: " << message;
  if (error.code() != ErrorCode::invalid_argument || message.find(to_string(c.distance)) == std::string::npos) {
    return testing::AssertionFailure() << "refused with " << to_string(error.code()) << ": " << message;
  }
  const auto mentions = [&](const std::string& part) { return message.find(part) != std::string::npos; };
  const std::string metric = kith::to_string(c.metric);
  if (mentions(metric.substr(0, metric.find('('))) || mentions(kith::to_string(c.dtype)) ||
      message.find_first_of("0123456789") != std::string::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "the refusal names no limit: " << message;
}

TEST(Promise1ExactMeansExact, EveryPairOfParametersMatchesTheOracle) {
  Axes axes{.stages = distance_stages(Backend::cpu),
            .methods = {Method::automatic, Method::brute},
            .threads = {0, 1, 2, 3, 7},
            .budgets = {0, std::int64_t{8} << 20}};
  for (const Shape& shape : {Shape{500, 20, 64}, {611, 13, 129}, {1000, 40, 16}, {1500, 7, 200}})
    axes.shapes.push_back(shape);
  std::set<DistanceStage> stages_that_ran;
  for (const Case& c : covering_cases(axes)) {
    try {
      EXPECT_TRUE(search_matches(c)) << c;
      stages_that_ran.insert(c.distance);
    } catch (const Error& error) {
      EXPECT_TRUE(is_clear_refusal(c, error)) << c;
    }
  }
  for (const DistanceStage stage : distance_stages(Backend::cpu)) {
    EXPECT_TRUE(stages_that_ran.contains(stage)) << "the stage " << stage << " refused every problem";
  }
}

// The whole grid of k for the two most used stages' home ground, where pairwise coverage is thin.
TEST(Promise3AnyK, EveryKFromOneToN) {
  constexpr Shape kShape{97, 3, 24};
  const Sample<float> sample = generate<float>(Kind::ties, kShape, MetricKind::sqeuclidean, 3);
  const Truth<float> truth = truth_of(sample, MetricKind::sqeuclidean);
  for (const DistanceStage stage : stages_of(DType::float32)) {
    for (std::int64_t k = 1; k <= kShape.base_rows; ++k) {
      EXPECT_TRUE(matches_truth(search(sample, k, options_for(MetricKind::sqeuclidean, stage)), truth, k))
          << stage << " k = " << k;
    }
  }
}

TEST(Promise3AnyK, LargeKOnManyPoints) {
  constexpr Shape kShape{20000, 3, 5};
  const Sample<float> sample = generate<float>(Kind::duplicates, kShape, MetricKind::euclidean, 4);
  const Truth<float> truth = truth_of(sample, MetricKind::euclidean);
  for (const std::int64_t k :
       {std::int64_t{1}, std::int64_t{100}, std::int64_t{4096}, std::int64_t{19999}, std::int64_t{20000}}) {
    EXPECT_TRUE(matches_truth(search(sample, k), truth, k)) << "k = " << k;
  }
}

// The key itself: what is returned is the mathematical distance, not only the same number as the oracle's.
TEST(Promise1ExactMeansExact, ReturnedDistancesAreTheMathematicalOnes) {
  constexpr Shape kShape{60, 10, 77};
  for (const Metric& metric : all_metrics()) {
    for (const Kind kind : {Kind::gaussian, Kind::large_offset, Kind::clustered, Kind::huge}) {
      const Sample<float> sample = generate<float>(kind, kShape, metric, 5);
      const Truth<float> precise = precise_truth_of(sample, metric);
      const Neighbors<float> got = search(sample, kShape.base_rows, options_for(metric));
      // An angle is computed from sums whose rounding is relative to 1, not to the angle.
      const bool angle = metric.kind == MetricKind::cosine || metric.kind == MetricKind::correlation;
      // Sums of products cancel: their rounding is relative to the terms.
      const double cancelled = metric.kind == MetricKind::inner_product && kind == Kind::huge ? 1e47 : 1e-9;
      const Agreement agreement{false, 1.3e-7,
                                angle                                      ? 1e-12
                                : metric.kind == MetricKind::inner_product ? cancelled
                                                                           : 0};
      EXPECT_TRUE(matches_truth(got, precise, kShape.base_rows, agreement))
          << kith::to_string(metric) << ' ' << to_string(kind);
    }
  }
}

TEST(Promise1ExactMeansExact, DefaultMetricIsEuclidean) {
  const std::vector<float> base = {0, 0, 3, 4, 6, 8};
  const std::vector<float> query = {0, 0};
  const Neighbors<float> got = search(MatrixView<float>(base.data(), 3, 2), MatrixView<float>(query.data(), 1, 2), 3);
  EXPECT_EQ(got.ids, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(got.distances, (std::vector<float>{0, 5, 10}));
}

}  // namespace
}  // namespace kith::test
