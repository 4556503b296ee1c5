// Promise 1, exact means exact: every metric, element type, kind of data, layout, k, distance stage and number of
// threads against the oracle, in pairwise coverage.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "kith/search.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/pairwise.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

// Small enough for the oracle, odd enough for every remainder loop.
constexpr Shape kShapes[] = {{1, 1, 1},     {2, 3, 2},     {7, 5, 3},      {64, 8, 8},     {65, 9, 17},   {257, 1, 33},
                             {300, 33, 31}, {500, 20, 64}, {611, 13, 129}, {1000, 40, 16}, {1500, 7, 200}};
constexpr int kThreads[] = {0, 1, 2, 3, 7};
constexpr Method kMethods[] = {Method::automatic, Method::brute};
constexpr std::int64_t kBudgets[] = {0, std::int64_t{8} << 20};
constexpr std::size_t kGrid = 6;

// 1, 2, 10, a third, all but one, all.
std::int64_t k_of_grid(std::size_t step, std::int64_t rows) {
  const std::int64_t values[kGrid] = {1, 2, 10, rows / 3, rows - 1, rows};
  return std::clamp<std::int64_t>(values[step], 1, rows);
}

std::vector<Case> covering_cases() {
  const std::vector<DistanceStage> stages = distance_stages(Backend::cpu);
  const std::vector<std::vector<std::size_t>> rows = pairwise(
      {all_metrics().size(), all_dtypes().size(), all_kinds().size(), std::size(kShapes), kGrid, all_layouts().size(),
       all_layouts().size(), stages.size(), std::size(kThreads), std::size(kMethods), std::size(kBudgets)},
      7);
  std::vector<Case> cases;
  for (const std::vector<std::size_t>& row : rows) {
    Case c;
    c.metric = all_metrics()[row[0]];
    c.dtype = all_dtypes()[row[1]];
    c.kind = all_kinds()[row[2]];
    c.shape = kShapes[row[3]];
    // One coordinate is always a constant vector.
    if (c.metric.kind == MetricKind::correlation) c.shape.dims = std::max<std::int64_t>(c.shape.dims, 2);
    c.k = k_of_grid(row[4], c.shape.base_rows);
    c.base_layout = all_layouts()[row[5]];
    c.query_layout = all_layouts()[row[6]];
    c.distance = stages[row[7]];
    c.threads = kThreads[row[8]];
    c.method = kMethods[row[9]];
    c.budget = kBudgets[row[10]];
    c.seed = cases.size() + 1;
    cases.push_back(c);
  }
  return cases;
}

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

template <Element T>
testing::AssertionResult search_matches(const Case& c, bool& refused) {
  const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
  const Points<T> base(sample.base, c.base_layout);
  const Points<T> queries(sample.queries, c.query_layout);
  try {
    const Agreement agreement = agreement_for(c);
    const auto got = search(base.view(), queries.view(), c.k, c.options());
    return matches_truth(got, truth_for(sample, c), c.k, agreement);
  } catch (const Error& error) {
    refused = true;
    return is_clear_refusal(c, error);
  }
}

TEST(Promise1ExactMeansExact, EveryPairOfParametersMatchesTheOracle) {
  std::set<DistanceStage> stages_that_ran;
  for (const Case& c : covering_cases()) {
    bool refused = false;
    const testing::AssertionResult result =
        with_dtype(c.dtype, [&]<class T>() { return search_matches<T>(c, refused); });
    EXPECT_TRUE(result) << c;
    if (!refused) stages_that_ran.insert(c.distance);
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
  for (const DistanceStage stage : distance_stages(Backend::cpu)) {
    Options options;
    options.metric = MetricKind::sqeuclidean;
    options.distance = stage;
    for (std::int64_t k = 1; k <= kShape.base_rows; ++k) {
      EXPECT_TRUE(matches_truth(search(sample.base.view(), sample.queries.view(), k, options), truth, k))
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
    EXPECT_TRUE(matches_truth(search(sample.base.view(), sample.queries.view(), k), truth, k)) << "k = " << k;
  }
}

// The key itself: what is returned is the mathematical distance, not only the same number as the oracle's.
TEST(Promise1ExactMeansExact, ReturnedDistancesAreTheMathematicalOnes) {
  constexpr Shape kShape{60, 10, 77};
  for (const Metric& metric : all_metrics()) {
    for (const Kind kind : {Kind::gaussian, Kind::large_offset, Kind::clustered, Kind::huge}) {
      Options options;
      options.metric = metric;
      const Sample<float> sample = generate<float>(kind, kShape, metric, 5);
      const Truth<float> precise = precise_truth_of(sample, metric);
      const Neighbors<float> got = search(sample.base.view(), sample.queries.view(), kShape.base_rows, options);
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
