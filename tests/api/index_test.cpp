// Index: the same answers as search(), from a base that is kept, shared by threads, moved, or given away.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

TEST(Index, KnowsItsShapeAndOptions) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {31, 1, 7}, MetricKind::cosine, 1);
  const Options options = options_for(MetricKind::cosine, DistanceStage::automatic, 2);
  const Index<float> index(sample.base.view(), options);
  EXPECT_EQ(index.rows(), 31);
  EXPECT_EQ(index.dims(), 7);
  EXPECT_EQ(index.options().metric, Metric(MetricKind::cosine));
  EXPECT_EQ(index.options().threads, 2);
}

TEST(Index, MovesWithItsBase) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {300, 5, 20}, MetricKind::euclidean, 3);
  const Neighbors<float> want = search(sample, 4);
  Index<float> first(Matrix<float>(sample.base));
  Index<float> second(std::move(first));
  EXPECT_TRUE(same_answer(second.search(sample.queries.view(), 4), want));
  Index<float> third(Matrix<float>(1, 20));
  third = std::move(second);
  EXPECT_EQ(third.rows(), 300);
  EXPECT_TRUE(same_answer(third.search(sample.queries.view(), 4), want));
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
  for (const DistanceStage stage : stages_of(DType::float32)) {
    const SearchReport report = search(sample, 10, options_for(stage)).report;
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
  for (const DistanceStage stage : stages_of(DType::float32)) {
    const Index<float> index(sample.base.view(), options_for(stage, 2));
    const Neighbors<float> want = index.search(sample.queries.view(), 20);
    SCOPED_TRACE(to_string(stage));
    expect_at_once(6, [&](std::size_t) {
      for (int round = 0; round < 2; ++round) EXPECT_TRUE(same_answer(index.search(sample.queries.view(), 20), want));
      return same_answer(index.search(sample.queries.view(), 20), want);
    });
  }
}

// Threads with problems of their own, of different types and shapes, do not meet either.
TEST(Index, SeparateSearchesRunSideBySide) {
  expect_at_once(4, [](std::size_t t) {
    return with_dtype(all_dtypes()[t], [&]<class T>() {
      const Options options = options_for(t % 2 == 0 ? MetricKind::manhattan : MetricKind::cosine);
      const Shape shape{600 + static_cast<std::int64_t>(t), 12, 40};
      return finds_the_truth(generate<T>(Kind::gaussian, shape, options.metric, t), 9, options);
    });
  });
}

}  // namespace
}  // namespace kith::test
