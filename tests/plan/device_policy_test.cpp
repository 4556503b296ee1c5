// What kernels and the planner go by on a device.
#include "core/device_policy.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "plan/choose.hpp"
#include "support/large_device.hpp"

namespace kith {
namespace {

TEST(DevicePolicy, HasARowForEveryFieldAndChip) {
  std::set<std::string> names;
  const core::DevicePolicy measured = core::policy_for({});
  for (const core::PolicyField& row : core::policy_fields()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(std::string(row.meaning).empty()) << row.name;
    EXPECT_EQ(measured.*row.field, row.values[static_cast<int>(core::Chip::sm_90)]) << row.name;
    EXPECT_GT(measured.*row.field, 0) << row.name;
  }
}

TEST(DevicePolicy, FitsChipsThatNobodyMeasured) {
  const core::DeviceHardware small{
      .compute_major = 7, .compute_minor = 5, .multiprocessors = 40, .shared_per_block = 64 << 10, .l2_bytes = 4 << 20};
  EXPECT_EQ(core::chip_of(small), core::Chip::portable);
  const core::DevicePolicy policy = core::policy_for(small);
  EXPECT_EQ(policy.hardware.multiprocessors, 40);
  EXPECT_LT(policy.candidate_bytes, small.shared_per_block);
  EXPECT_LT(policy.panel_bytes, small.l2_bytes);
  EXPECT_LT(policy.busy_tiles, core::policy_for({}).busy_tiles);
  for (const core::PolicyField& row : core::policy_fields()) EXPECT_GT(policy.*row.field, 0) << row.name;
}

TEST(DevicePolicy, CrossoversChangeThePlan) {
  const Problem problem{1000000, 10000, 128, 10};
  core::DeviceFacts facts = test::large_device();
  const Plan usual = plan::choose(problem, {}, facts);
  EXPECT_EQ(usual.method, Method::fused);
  EXPECT_EQ(usual.distance, DistanceStage::fp16);
  EXPECT_TRUE(usual.tries_passes);
  facts.policy.fused_min_points = problem.base_rows + 1;
  EXPECT_EQ(plan::choose(problem, {}, facts).method, Method::two_stage);
  facts.policy.fp16_min_queries = problem.queries + 1;
  EXPECT_NE(plan::choose(problem, {}, facts).distance, DistanceStage::fp16);
  facts.policy.trial_microseconds = 1000000;
  EXPECT_FALSE(plan::choose(problem, {}, facts).tries_passes);
}

}  // namespace
}  // namespace kith
