// When a CPU multiplies points rounded to bfloat16.
#include <gtest/gtest.h>

#include <string>

#include "kith/error.hpp"
#include "plan/choose.hpp"
#include "support/fails_with.hpp"

namespace kith {
namespace {

core::CpuFacts cpu_with_bf16(bool has_bf16 = true) {
  core::CpuFacts facts;
  facts.threads = 2;
  facts.free_memory = std::int64_t{1} << 33;
  facts.has_bf16 = has_bf16;
  return facts;
}

constexpr Problem kBf16Problem{100000, 1000, 128, 10, DType::float32};

Plan planned_with_bf16(const Problem& problem, const Metric& metric, const core::CpuFacts& facts = cpu_with_bf16(),
                       const plan::DataSamples& samples = {}, DistanceStage stage = DistanceStage::automatic) {
  Options options;
  options.metric = metric;
  options.distance = stage;
  return plan::choose(problem, options, facts, {}, samples);
}

plan::DataSamples with_candidates(double candidates) {
  plan::DataSamples samples;
  samples.surviving_fractions = [](const Plan&) { return plan::SurvivingFractions{1, 1, 128}; };
  samples.bf16_candidates = [=] { return candidates; };
  samples.products_are_sharp = [] { return true; };
  return samples;
}

TEST(CpuBf16, IsTakenForManyQueriesUnderMetricsThatAreProducts) {
  for (const MetricKind metric : {MetricKind::sqeuclidean, MetricKind::euclidean, MetricKind::inner_product,
                                  MetricKind::cosine, MetricKind::correlation}) {
    const Plan plan = planned_with_bf16(kBf16Problem, metric);
    EXPECT_EQ(plan.distance, DistanceStage::bf16) << to_string(Metric(metric));
    EXPECT_EQ(plan.expanded, core::form_of(metric) == core::Form::squared);
    EXPECT_NE(plan.reason.find("bfloat16"), std::string::npos) << plan.reason;
  }
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    Problem problem = kBf16Problem;
    problem.dtype = dtype;
    EXPECT_EQ(planned_with_bf16(problem, MetricKind::euclidean).distance, DistanceStage::bf16);
  }
}

TEST(CpuBf16, IsNotTakenWhereThereIsNoInstructionForItOrNoUse) {
  EXPECT_NE(planned_with_bf16(kBf16Problem, MetricKind::euclidean, cpu_with_bf16(false)).distance, DistanceStage::bf16);
  EXPECT_NE(planned_with_bf16({100000, 1, 128, 10, DType::float32}, MetricKind::euclidean).distance,
            DistanceStage::bf16)
      << "one query reads each point once";
  EXPECT_NE(planned_with_bf16({100000, 1000, 128, 10, DType::float64}, MetricKind::euclidean).distance,
            DistanceStage::bf16);
  EXPECT_EQ(planned_with_bf16({100000, 1000, 128, 10, DType::uint8}, MetricKind::euclidean).distance,
            DistanceStage::int8);
  EXPECT_NE(planned_with_bf16(kBf16Problem, MetricKind::manhattan).distance, DistanceStage::bf16);
}

TEST(CpuBf16, IsLeftWhereASampleHasTooManyCandidates) {
  EXPECT_EQ(planned_with_bf16(kBf16Problem, MetricKind::euclidean, cpu_with_bf16(), with_candidates(3)).distance,
            DistanceStage::bf16);
  EXPECT_NE(planned_with_bf16(kBf16Problem, MetricKind::euclidean, cpu_with_bf16(), with_candidates(900)).distance,
            DistanceStage::bf16);
  EXPECT_EQ(
      planned_with_bf16(kBf16Problem, MetricKind::euclidean, cpu_with_bf16(), with_candidates(900), DistanceStage::bf16)
          .distance,
      DistanceStage::bf16)
      << "what is asked for by name is done";
}

TEST(CpuBf16, IsRefusedByNameWhereThereIsNoProduct) {
  EXPECT_TRUE(test::fails_with(ErrorCode::invalid_argument, {"bf16", "manhattan"}, [&] {
    planned_with_bf16(kBf16Problem, MetricKind::manhattan, cpu_with_bf16(), {}, DistanceStage::bf16);
  }));
  EXPECT_TRUE(test::fails_with(ErrorCode::invalid_argument, {"bf16", "float64"}, [&] {
    planned_with_bf16({1000, 10, 8, 1, DType::float64}, MetricKind::euclidean, cpu_with_bf16(), {},
                      DistanceStage::bf16);
  }));
}

}  // namespace
}  // namespace kith
