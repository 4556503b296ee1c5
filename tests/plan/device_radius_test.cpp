// Plans of a radius search on a device.
#include <gtest/gtest.h>

#include <string>

#include "kith/error.hpp"
#include "plan/choose.hpp"
#include "support/budget.hpp"
#include "support/compare.hpp"
#include "support/large_device.hpp"

namespace kith {
namespace {

Plan radius_plan(const Problem& problem, const Options& options = {}) {
  return plan::choose_radius(problem, options, test::large_device());
}

constexpr Problem kProblem{1000000, 10000, 128, 0, DType::float32};

TEST(DeviceRadiusPlan, SaysWhatWillBeDone) {
  const Plan plan = radius_plan(kProblem);
  EXPECT_EQ(plan.backend, Backend::cuda);
  EXPECT_EQ(plan.method, Method::brute);
  EXPECT_EQ(plan.distance, DistanceStage::fp16);
  EXPECT_EQ(plan.select, SelectMethod::radius);
  EXPECT_TRUE(plan.expanded);
  EXPECT_EQ(plan.base_tile, kProblem.base_rows);
  EXPECT_EQ(plan.query_block, kProblem.queries);
  EXPECT_GT(plan.seconds, 0.001);
  EXPECT_LT(plan.seconds, 1);
  EXPECT_NE(to_string(plan).find("within a radius"), std::string::npos) << plan;
}

// Products of points that lose something in fp16, on devices that list pairs of them.
TEST(DeviceRadiusPlan, RoundsToFp16WhereItMay) {
  using enum DistanceStage;
  const auto stage = [](MetricKind metric, const Problem& problem, int major = 9, DistanceStage wanted = automatic) {
    core::DeviceFacts device = test::large_device();
    device.policy.hardware.compute_major = major;
    Options options;
    options.metric = metric;
    options.distance = wanted;
    return plan::choose_radius(problem, options, device).distance;
  };
  EXPECT_EQ(stage(MetricKind::inner_product, kProblem), fp16);
  EXPECT_EQ(stage(MetricKind::cosine, {1000, 1, 20, 0, DType::float32}), fp16);
  EXPECT_EQ(stage(MetricKind::euclidean, {1000, 1, 3, 0, DType::float32}, 9, fp16), fp16);
  EXPECT_EQ(stage(MetricKind::manhattan, kProblem), register_tiled);
  EXPECT_EQ(stage(MetricKind::euclidean, {1000, 1, 3, 0, DType::float32}), register_tiled);
  EXPECT_EQ(stage(MetricKind::euclidean, {1000, 1, 20, 0, DType::float64}), register_tiled);
  EXPECT_EQ(stage(MetricKind::euclidean, {1000, 1, 20, 0, DType::uint8}), register_tiled);
  EXPECT_EQ(stage(MetricKind::euclidean, kProblem, 8), register_tiled);
  EXPECT_EQ(stage(MetricKind::euclidean, kProblem, 9, register_tiled), register_tiled);
}

TEST(DeviceRadiusPlan, SquaresComeFromProductsWhereTheySaveSomething) {
  EXPECT_FALSE(radius_plan({1000, 10, 3, 0, DType::float32}).expanded);
  Options options;
  options.metric = MetricKind::manhattan;
  EXPECT_FALSE(radius_plan(kProblem, options).expanded);
}

TEST(DeviceRadiusPlan, StaysWithinAnyBudget) {
  for (const DType dtype : {DType::float32, DType::float64, DType::uint8}) {
    for (const std::int64_t queries : {1, 77, 1000000}) {
      for (std::int64_t budget = 1 << 10; budget <= std::int64_t{1} << 36; budget *= 4) {
        Options options;
        options.memory_budget = budget;
        const Plan plan = radius_plan({1000000, queries, 20, 0, dtype}, options);
        EXPECT_EQ(plan.budget_bytes, budget);
        EXPECT_LE(plan.workspace_bytes, budget);
        EXPECT_GE(plan.query_block, 1);
        EXPECT_LE(plan.query_block, queries);
        EXPECT_GE(plan.candidates, 1);
        EXPECT_LE(plan.candidates, 1000000);
        const std::int64_t listed = dtype == DType::float64 ? 48 : 36;
        EXPECT_LE(plan.query_block * plan.candidates * listed, plan.workspace_bytes);
        EXPECT_GE(plan.base_tile, 1);
      }
    }
  }
}

TEST(DeviceRadiusPlan, NamesTheLeastBudget) {
  test::run_within(40, [](std::int64_t budget) {
    Options options;
    options.memory_budget = budget;
    EXPECT_EQ(radius_plan(kProblem, options).query_block, 1);
    EXPECT_GT(budget, 40);
  });
}

TEST(DeviceRadiusPlan, RefusesWhatItDoesNotHave) {
  const auto refused = [](const std::string& says, const Problem& problem, const Options& options) {
    EXPECT_TRUE(test::fails_with(ErrorCode::invalid_argument, {says}, [&] { radius_plan(problem, options); }));
  };
  Options options;
  options.method = Method::fused;
  refused("fused", kProblem, options);
  options.method = Method::brute;
  options.distance = DistanceStage::direct;
  refused("it has auto, register-tiled, fp16", kProblem, options);
  options.distance = DistanceStage::fp16;
  refused("float64 has no use of it", {1000, 10, 20, 0, DType::float64}, options);
  options.metric = MetricKind::manhattan;
  refused("no matrix product", kProblem, options);
  options.metric = MetricKind::euclidean;
  core::DeviceFacts old = test::large_device();
  old.policy.hardware.compute_major = 8;
  EXPECT_TRUE(test::fails_with(ErrorCode::invalid_argument, {"needs compute capability 9", "has 8.0"},
                               [&] { plan::choose_radius(kProblem, options, old); }));
  options.distance = DistanceStage::register_tiled;
  EXPECT_NO_THROW(radius_plan(kProblem, options));
  refused("2147483648", {std::int64_t{1} << 31, 1, 1, 0, DType::float32}, options);
}

}  // namespace
}  // namespace kith
