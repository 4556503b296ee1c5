// When a CPU multiplies bytes as integers.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/choose.hpp"

namespace kith {
namespace {

core::CpuFacts cpu() {
  core::CpuFacts facts;
  facts.threads = 2;
  facts.free_memory = std::int64_t{1} << 33;
  return facts;
}

Plan planned(const Problem& problem, const Metric& metric, const core::CpuFacts& facts = cpu()) {
  Options options;
  options.metric = metric;
  return plan::choose(problem, options, facts);
}

Problem points_of(DType dtype, std::int64_t queries = 1000, std::int64_t dims = 128) {
  return {100000, queries, dims, 10, dtype};
}

bool is_listed(const Plan& plan, DistanceStage stage) {
  return plan.distance == stage || std::any_of(plan.alternatives.begin(), plan.alternatives.end(),
                                               [&](const auto& other) { return other.distance == stage; });
}

TEST(CpuInt8, IsTakenForBytesUnderMetricsThatAreProducts) {
  for (const DType dtype : {DType::uint8, DType::int8})
    for (const MetricKind metric : {MetricKind::sqeuclidean, MetricKind::euclidean, MetricKind::inner_product})
      for (const std::int64_t queries : {10, 1000}) {
        const Plan plan = planned(points_of(dtype, queries), metric);
        EXPECT_EQ(plan.distance, DistanceStage::int8) << queries;
        EXPECT_FALSE(plan.expanded) << "scores are squares themselves";
        EXPECT_NE(plan.reason.find("8-bit integers"), std::string::npos) << plan.reason;
      }
}

TEST(CpuInt8, IsAFractionOfSinglePrecision) {
  const double bytes = planned(points_of(DType::uint8), MetricKind::euclidean).seconds;
  EXPECT_LT(bytes, 0.4 * planned(points_of(DType::float32), MetricKind::euclidean).seconds);
}

TEST(CpuInt8, IsNotOfferedElsewhere) {
  EXPECT_FALSE(is_listed(planned(points_of(DType::float32), MetricKind::euclidean), DistanceStage::int8));
  for (const MetricKind metric : {MetricKind::cosine, MetricKind::manhattan})
    EXPECT_FALSE(is_listed(planned(points_of(DType::uint8), metric), DistanceStage::int8));
  EXPECT_FALSE(is_listed(planned(points_of(DType::uint8, 1000, 16385), MetricKind::euclidean), DistanceStage::int8));
}

// A CPU without an instruction for products of integers multiplies floats.
TEST(CpuInt8, IsLeftWhereItIsSlower) {
  core::CpuFacts facts = cpu();
  facts.int8.step = 4 * facts.register_tiled.step;
  facts.int8_group = 2;
  const Plan plan = planned(points_of(DType::uint8), MetricKind::euclidean, facts);
  EXPECT_EQ(plan.distance, DistanceStage::register_tiled);
  EXPECT_TRUE(is_listed(plan, DistanceStage::int8));
}

TEST(CpuInt8, CountsItsBytes) {
  Options options;
  options.distance = DistanceStage::int8;
  options.threads = 1;
  const Problem problem = points_of(DType::uint8);
  const Plan quads = plan::choose(problem, options, cpu());
  core::CpuFacts widened = cpu();
  widened.int8_group = 2;
  const Plan pairs = plan::choose(problem, options, widened);
  ASSERT_EQ(quads.base_tile, pairs.base_tile);
  ASSERT_EQ(quads.query_block, pairs.query_block);
  EXPECT_EQ(pairs.workspace_bytes - quads.workspace_bytes, (quads.query_block + quads.base_tile) * problem.dims);
}

TEST(CpuInt8, ServesBatches) {
  Options options;
  plan::SmallBatches small;
  small.all = {100000, 50000, 128, 5, DType::uint8};
  small.count = 500;
  small.base_rows = 100000;
  small.queries = 50000;
  small.most_base_rows = 400;
  small.most_queries = 200;
  small.method = Method::brute;
  EXPECT_EQ(plan::choose_batches(small, options, cpu()).distance, DistanceStage::int8);
}

}  // namespace
}  // namespace kith
