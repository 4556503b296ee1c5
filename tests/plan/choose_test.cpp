// Which method a search takes when that is left to the data.
#include "plan/choose.hpp"

#include <gtest/gtest.h>

#include "kith/error.hpp"
#include "plan/cpu_costs.hpp"
#include "support/large_device.hpp"

namespace kith {
namespace {

// Data that answers as it is told, and counts the questions.
struct Data {
  double share = 0;
  bool holds = true;
  int asked_for_share = 0;
  int asked_whether_it_holds = 0;

  Plan plan(const Problem& problem, const Options& options = {}, const plan::IndexFacts& index = {}) {
    return plan::choose(problem, options, test::large_device(), index,
                        {[this](const Plan& plan) {
                           EXPECT_EQ(plan.method, Method::triangle);
                           EXPECT_GT(plan.triangle.base_landmarks, 0);
                           ++asked_for_share;
                           return plan::SurvivingFractions{share, 1};
                         },
                         [this](const Plan& plan) {
                           EXPECT_NE(plan.method, Method::triangle);
                           ++asked_whether_it_holds;
                           return holds;
                         },
                         {}});
  }
};

constexpr Problem kManyQueries{1000000, 1000000, 8, 10};

TEST(DeviceChoice, FollowsTheShareThatIsLeft) {
  Data structured{.share = 0.0005};
  const Plan triangle = structured.plan(kManyQueries);
  EXPECT_EQ(triangle.method, Method::triangle);
  EXPECT_EQ(structured.asked_for_share, 1);
  EXPECT_NE(triangle.reason.find("leaves 0.05 % of the distances"), std::string::npos) << triangle.reason;
  ASSERT_FALSE(triangle.alternatives.empty());
  EXPECT_LT(triangle.seconds, 0.8 * triangle.alternatives.front().seconds);
  Data noise{.share = 1};
  EXPECT_NE(noise.plan(kManyQueries).method, Method::triangle);
  EXPECT_EQ(noise.asked_for_share, 1);
}

TEST(DeviceChoice, AsksNothingWhereTheAnswerDecidesNothing) {
  Data data;
  EXPECT_NE(data.plan({1000000, test::large_device().policy.triangle_min_queries - 1, 8, 10}).method, Method::triangle);
  EXPECT_NE(data.plan({test::large_device().policy.triangle_min_points - 1, 100000, 8, 10}).method, Method::triangle);
  for (const Method method : {Method::two_stage, Method::fused, Method::brute}) {
    Options options;
    options.method = method;
    EXPECT_EQ(data.plan(kManyQueries, options).method == Method::triangle, false);
  }
  Options products;
  products.metric = MetricKind::inner_product;
  EXPECT_NE(data.plan(kManyQueries, products).method, Method::triangle);
  EXPECT_EQ(data.asked_for_share, 0);
}

// Where triangle beats what comes after fp16, but not fp16, it depends on whether fp16 will do.
TEST(DeviceChoice, AsksWhetherFp16HoldWhereTheyWouldBeFaster) {
  const Problem problem{60000, 60000, 281, 20};
  int decided = 0;
  for (double share = 1; share > 1e-4; share *= 0.8) {
    Data holding{.share = share, .holds = true};
    Data failing{.share = share, .holds = false};
    const Plan kept = holding.plan(problem);
    const Plan left = failing.plan(problem);
    EXPECT_EQ(holding.asked_whether_it_holds, failing.asked_whether_it_holds);
    if (holding.asked_whether_it_holds == 0) {
      EXPECT_EQ(kept.method, left.method) << share;
      continue;
    }
    ++decided;
    EXPECT_NE(kept.method, Method::triangle) << share;
    EXPECT_EQ(left.method, Method::triangle) << share;
  }
  EXPECT_GT(decided, 0);
}

// In few dimensions an index asks once, and its later searches for as many neighbors have the answer.
TEST(DeviceChoice, AnIndexKeepsItsSampleInFewDimensions) {
  const Problem few_dims{300000, 10000, 3, 1};
  const Problem many_dims{300000, 10000, 24, 1};
  Data data{.share = 0.0005};
  EXPECT_EQ(data.plan(few_dims).method, Method::triangle);
  EXPECT_EQ(data.asked_for_share, 1);
  EXPECT_NE(data.plan(few_dims, {}, {.serves_once = true}).method, Method::triangle);
  EXPECT_NE(data.plan(many_dims).method, Method::triangle);
  EXPECT_EQ(data.asked_for_share, 1);
  EXPECT_EQ(data.plan(few_dims, {}, {.sampled_k = 1, .serves_once = true}).method, Method::triangle);
  EXPECT_EQ(data.asked_for_share, 2);
}

// Where two passes of fp16 are known to do, clusters of many dimensions are left to them.
TEST(DeviceChoice, KnowsWhatSearchesHaveShown) {
  const Problem clusters{1000000, 10000, 128, 10};
  const auto distance = [](const Problem& problem, const plan::IndexFacts& index) {
    return plan::choose(problem, {}, test::large_device(), index).distance;
  };
  Data data{.share = 0.0005, .holds = false};
  EXPECT_NE(data.plan(clusters, {}, {.sampled_k = 10, .many_need_second_pass = true}).method, Method::triangle);
  EXPECT_EQ(distance(clusters, {.many_need_second_pass = true}), DistanceStage::fp16);
  EXPECT_EQ(distance(clusters, {.many_need_second_pass = true, .fp16_fails = true}), DistanceStage::split_fp16);
  EXPECT_EQ(distance({1000000, 1, 128, 10}, {.few_need_second_pass = true}), DistanceStage::exact);
}

TEST(DeviceChoice, WhatTriangleCannotDoIsLeftToBruteForce) {
  Data data;
  Options options;
  options.triangle.threads_per_query = 512;
  EXPECT_NE(data.plan(kManyQueries, options).method, Method::triangle);
  options = {};
  options.memory_budget = 1 << 20;
  EXPECT_NE(data.plan(kManyQueries, options).method, Method::triangle);
  EXPECT_EQ(data.asked_for_share, 0);
}

// A scan reads half the bytes; what starts it must be worth that, and so must rounding where it serves once.
TEST(DeviceChoice, FewQueriesReadTheBaseInFp16) {
  const auto chosen = [](const Problem& problem, const plan::IndexFacts& index = {}) {
    const Plan plan = plan::choose(problem, {}, test::large_device(), index);
    return std::pair(plan.distance, plan.method);
  };
  const std::pair scan(DistanceStage::fp16, Method::fused);
  const std::pair exact(DistanceStage::exact, Method::two_stage);
  for (const std::int64_t queries : {1, 2, 8}) EXPECT_EQ(chosen({1000000, queries, 128, 10}), scan) << queries;
  EXPECT_EQ(chosen({1000000, 1, 128, 20}), scan);
  EXPECT_EQ(chosen({1000000, 1, 128, 10}, {.serves_once = true}), exact);
  EXPECT_EQ(chosen({1000000, 1, 128, 10}, {.resident = false}), exact);
  EXPECT_EQ(chosen({10000, 1, 128, 10}), exact);
  EXPECT_EQ(chosen({1000000, 1, 128, 1000}), exact);
  EXPECT_EQ(chosen({1000000, 1, 128, 10, DType::float64}), exact);
  EXPECT_EQ(chosen({1000000, 1, 128, 10, DType::uint8}), std::pair(DistanceStage::int8, Method::fused));
}

// On a CPU, of points of which triangle leaves a hundredth, by a metric that has no boxes.
Plan plan_on_cpu(const Problem& problem, const plan::IndexFacts& index, int* asked = nullptr) {
  plan::DataSamples samples;
  samples.surviving_fractions = [asked](const Plan&) {
    if (asked != nullptr) ++*asked;
    return plan::SurvivingFractions{0.01, 0.02};
  };
  Options options;
  options.metric = MetricKind::hamming;
  return plan::choose(problem, options, core::CpuFacts{}, index, samples);
}

TEST(CpuChoice, SmallProblemsAreLookedAtToo) {
  for (const std::int64_t points : {2000, 4000, 10000, 100000})
    EXPECT_EQ(plan_on_cpu({points, points, 3, 10}, {}).method, Method::triangle) << points;
  EXPECT_NE(plan_on_cpu({100, 100, 3, 10}, {}).method, Method::triangle);
}

TEST(CpuChoice, CostsOfAQueryAreCounted) {
  const Plan plan = plan_on_cpu({2000, 20, 3, 10}, {});
  EXPECT_GT(plan.seconds, 40e-6);  // distances alone take 3 µs
  EXPECT_LT(plan.seconds, 200e-6);
}

TEST(CpuChoice, FewQueriesTakeClustersThatAreThere) {
  const Problem one{1000000, 1, 3, 5};
  int asked = 0;
  EXPECT_NE(plan_on_cpu(one, {}, &asked).method, Method::triangle);
  EXPECT_NE(plan_on_cpu(one, {.has_clusters = true}, &asked).method, Method::triangle);
  EXPECT_EQ(asked, 0);  // a sample would take longer than the query
  EXPECT_EQ(plan_on_cpu(one, {.has_clusters = true, .sampled_k = 5}).method, Method::triangle);
  EXPECT_NE(plan_on_cpu(one, {.has_clusters = true, .sampled_k = 4}).method, Method::triangle);
}

TEST(CpuChoice, ClustersAreMadeOnceTheyWouldHavePaid) {
  const Problem one{1000000, 1, 3, 5};
  const double price = plan_on_cpu({1000000, 1000000, 3, 5}, {}).seconds;
  EXPECT_NE(plan_on_cpu(one, {.sampled_k = 5, .spent = 0.01}).method, Method::triangle);
  EXPECT_EQ(plan_on_cpu(one, {.sampled_k = 5, .spent = price}).method, Method::triangle);
}

// On a CPU, of points that fill so many of their dimensions; 0 where nobody looks.
Plan plan_with_tree(const Problem& problem, double filled, const plan::IndexFacts& index = {},
                    const Options& options = {}) {
  plan::DataSamples samples;
  if (filled > 0) samples.surviving_fractions = [=](const Plan&) { return plan::SurvivingFractions{0.5, 0.9, filled}; };
  return plan::choose(problem, options, core::CpuFacts{}, index, samples);
}

TEST(CpuChoice, TreesAreForFewDimensions) {
  for (const std::int64_t dims : {1, 2, 3, 8})
    EXPECT_EQ(plan_with_tree({300000, 300000, dims, 10}, 0).method, Method::tree) << dims;
  for (const std::int64_t dims : {16, 100})
    EXPECT_NE(plan_with_tree({300000, 300000, dims, 10}, 0).method, Method::tree) << dims;
  EXPECT_EQ(plan_with_tree({300000, 300000, 16, 10}, 4).method, Method::tree);
  EXPECT_NE(plan_with_tree({300000, 300000, 16, 10}, 16).method, Method::tree);
  EXPECT_NE(plan_with_tree({300000, 300000, 100, 10}, 4).method, Method::tree);
  Options products;
  products.metric = MetricKind::inner_product;
  EXPECT_NE(plan_with_tree({300000, 300000, 3, 10}, 3, {}, products).method, Method::tree);
  Options staged;
  staged.distance = DistanceStage::direct;
  EXPECT_NE(plan_with_tree({300000, 300000, 3, 10}, 3, {}, staged).method, Method::tree);
}

TEST(CpuChoice, TreesAreMadeOnceTheyWouldHavePaid) {
  const Problem one{1000000, 1, 3, 5};
  EXPECT_NE(plan_with_tree(one, 0).method, Method::tree);
  EXPECT_NE(plan_with_tree(one, 0, {.spent = 0.01}).method, Method::tree);
  EXPECT_EQ(plan_with_tree(one, 0, {.spent = 2}).method, Method::tree);
  EXPECT_EQ(plan_with_tree(one, 0, {.has_tree = true}).method, Method::tree);
  EXPECT_LT(plan_with_tree(one, 0, {.has_tree = true}).seconds, 20e-6);
}

TEST(CpuChoice, MoreNeighborsAndDimensionsVisitMoreLeaves) {
  for (const double dims : {1.0, 2.5, 3.0, 8.0}) {
    EXPECT_LT(plan::visited_leaves(1e6, 1, dims), plan::visited_leaves(1e6, 10, dims));
    EXPECT_LT(plan::visited_leaves(1e6, 10, dims), plan::visited_leaves(1e6, 10, dims + 1));
  }
  EXPECT_EQ(plan::visited_leaves(3200, 10, 30), 100);
}

TEST(DeviceChoice, ManyQueriesInFewDimensionsTakeATree) {
  const core::DeviceFacts device = test::large_device();
  for (const std::int64_t dims : {1, 3}) {
    EXPECT_EQ(plan::choose({300000, 300000, dims, 10}, {}, device).method, Method::tree) << dims;
    EXPECT_EQ(plan::choose_radius({300000, 300000, dims, 0}, {}, device).method, Method::tree) << dims;
  }
  EXPECT_NE(plan::choose({300000, 300000, 16, 10}, {}, device).method, Method::tree);
  EXPECT_NE(plan::choose({300000, 1, 3, 10}, {}, device).method, Method::tree);
  EXPECT_NE(plan::choose({3000, 300, 3, 10}, {}, device).method, Method::tree);
  Options cosine;
  cosine.metric = MetricKind::cosine;
  EXPECT_NE(plan::choose({300000, 300000, 3, 10}, cosine, device).method, Method::tree);
}

TEST(DeviceChoice, TimesReplaceWhatIsPredictedOfTrees) {
  const Problem problem{300000, 300000, 3, 10};
  const Plan tree = plan::choose(problem, {}, test::large_device());
  ASSERT_EQ(tree.method, Method::tree);
  ASSERT_FALSE(tree.alternatives.empty());
  const double brute = tree.alternatives.front().seconds;
  const auto timed = [&](double seconds) {
    plan::IndexFacts index;
    index.timed = {{Method::tree, tree.distance, seconds}};
    return plan::choose(problem, {}, test::large_device(), index);
  };
  EXPECT_EQ(timed(2 * tree.seconds).method, Method::tree);
  EXPECT_NE(timed(1.1 * brute).method, Method::tree);
  plan::IndexFacts made;
  made.has_tree = true;
  EXPECT_LT(plan::choose(problem, {}, test::large_device(), made).seconds, tree.seconds);
}

TEST(CpuChoice, RadiusSearchesInFewDimensionsTakeATree) {
  EXPECT_EQ(plan::choose_radius({300000, 300000, 3, 0}, {}, core::CpuFacts{}).method, Method::tree);
  EXPECT_NE(plan::choose_radius({300000, 1, 3, 0}, {}, core::CpuFacts{}).method, Method::tree);
  EXPECT_NE(plan::choose_radius({300000, 300000, 16, 0}, {}, core::CpuFacts{}).method, Method::tree);
}

}  // namespace
}  // namespace kith
