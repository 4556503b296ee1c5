// Index: the same answers as search(), from a base that is kept, shared by threads, moved, or given away.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

TEST(Index, KnowsItsShapeAndOptions) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {31, 1, 7}, MetricKind::cosine, 1);
  Options options;
  options.metric = MetricKind::cosine;
  options.threads = 2;
  const Index<float> index(sample.base.view(), options);
  EXPECT_EQ(index.rows(), 31);
  EXPECT_EQ(index.dims(), 7);
  EXPECT_EQ(index.options().metric, Metric(MetricKind::cosine));
  EXPECT_EQ(index.options().threads, 2);
}

TEST(Index, MovesWithItsBase) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {300, 5, 20}, MetricKind::euclidean, 3);
  const Neighbors<float> want = search(sample.base.view(), sample.queries.view(), 4);
  Index<float> first(Matrix<float>(sample.base));
  Index<float> second(std::move(first));
  EXPECT_TRUE(same_answer(second.search(sample.queries.view(), 4), want));
  Index<float> third(Matrix<float>(1, 20));
  third = std::move(second);
  EXPECT_EQ(third.rows(), 300);
  EXPECT_TRUE(same_answer(third.search(sample.queries.view(), 4), want));
}

TEST(Index, SearchSelfLeavesOutThePointAndNotItsCopies) {
  for (const Kind kind : {Kind::duplicates, Kind::all_equal, Kind::ties, Kind::clustered}) {
    for (const MetricKind metric :
         {MetricKind::euclidean, MetricKind::cosine, MetricKind::inner_product, MetricKind::chebyshev}) {
      Sample<float> sample = generate<float>(kind, {130, 1, 30}, metric, 4);
      sample.queries = sample.base;
      const Truth<float> truth = truth_of(sample, metric);
      Options options;
      options.metric = metric;
      const Index<float> index(sample.base.view(), options);
      for (const std::int64_t k : {1, 2, 60, 129}) {
        EXPECT_TRUE(matches_truth(index.search_self(k), truth, k, {}, true))
            << to_string(kind) << ' ' << kith::to_string(Metric(metric)) << " k=" << k;
      }
    }
  }
}

TEST(Index, ExplainsWhatItWillDo) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {2000, 10, 16}, MetricKind::euclidean, 5);
  Options options;
  options.threads = 1;
  options.memory_budget = 32 << 20;
  const Index<float> index(sample.base.view(), options);
  const Plan plan = index.explain(10, 7);
  EXPECT_EQ(plan.problem.base_rows, 2000);
  EXPECT_EQ(plan.problem.queries, 10);
  EXPECT_EQ(plan.problem.dims, 16);
  EXPECT_EQ(plan.problem.k, 7);
  EXPECT_EQ(to_string(index.search(sample.queries.view(), 7).report.plan), to_string(plan));
}

TEST(Index, ReportsWhatWasDone) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {5000, 40, 64}, MetricKind::euclidean, 6);
  for (const DistanceStage stage : distance_stages(Backend::cpu)) {
    Options options;
    options.distance = stage;
    const SearchReport report = search(sample.base.view(), sample.queries.view(), 10, options).report;
    if (stage != DistanceStage::automatic) {
      EXPECT_EQ(report.plan.distance, stage);
    }
    EXPECT_GT(report.seconds, 0);
    EXPECT_LT(report.seconds, 60);
    EXPECT_GE(report.finalists, 400) << "every neighbor returned was computed by the direct formula";
    EXPECT_LE(report.finalists, 5000 * 40) << stage;
  }
}

TEST(Index, ServesManyThreadsAtOnce) {
  const Sample<float> sample = generate<float>(Kind::clustered, {4000, 64, 48}, MetricKind::euclidean, 7);
  for (const DistanceStage stage : distance_stages(Backend::cpu)) {
    Options options;
    options.distance = stage;
    options.threads = 2;
    const Index<float> index(sample.base.view(), options);
    const Neighbors<float> want = index.search(sample.queries.view(), 20);
    std::vector<testing::AssertionResult> results(6, testing::AssertionSuccess());
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < results.size(); ++t) {
      threads.emplace_back([&, t] {
        for (int round = 0; round < 3 && results[t]; ++round) {
          results[t] = same_answer(index.search(sample.queries.view(), 20), want);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const testing::AssertionResult& result : results) EXPECT_TRUE(result) << stage;
  }
}

// Threads with problems of their own, of different types and shapes, do not meet either.
TEST(Index, SeparateSearchesRunSideBySide) {
  std::vector<testing::AssertionResult> results(4, testing::AssertionSuccess());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      with_dtype(all_dtypes()[t], [&]<class T>() {
        const Metric metric = t % 2 == 0 ? MetricKind::manhattan : MetricKind::cosine;
        const Sample<T> sample = generate<T>(Kind::gaussian, {600 + static_cast<std::int64_t>(t), 12, 40}, metric, t);
        Options options;
        options.metric = metric;
        results[t] =
            matches_truth(search(sample.base.view(), sample.queries.view(), 9, options), truth_of(sample, metric), 9);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const testing::AssertionResult& result : results) EXPECT_TRUE(result);
}

}  // namespace
}  // namespace kith::test
