// What kernels and the planner go by on a device.
#include "core/device_policy.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <string>

#include "plan/choose.hpp"
#include "support/chips.hpp"
#include "support/large_device.hpp"

namespace kith {
namespace {

TEST(DevicePolicy, HasARowForEveryFieldAndChip) {
  std::set<std::string> names;
  for (const core::PolicyField& row : core::policy_fields()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(std::string(row.meaning).empty()) << row.name;
    // A column that ends early is filled with zeros; only the portable one may have them, for policy_for() to fit.
    for (int chip = static_cast<int>(core::Chip::portable) + 1; chip < core::kChips; ++chip)
      EXPECT_GT(row.values[chip], 0) << row.name << " in column " << chip;
  }
}

TEST(DevicePolicy, AColumnIsForOneChipAlone) {
  const core::DevicePolicy portable = core::policy_for({.compute_major = 7, .compute_minor = 5});
  std::set<core::Chip> columns;
  for (const core::DeviceHardware& hardware : test::chips()) {
    SCOPED_TRACE(testing::Message() << "compute capability " << hardware.compute_major << "."
                                    << hardware.compute_minor);
    const core::Chip chip = core::chip_of(hardware);
    const bool measured = chip != core::Chip::portable;
    EXPECT_TRUE(!measured || columns.insert(chip).second) << "another chip has the same column";
    const core::DevicePolicy policy = core::policy_for(hardware);
    for (const core::PolicyField& row : core::policy_fields())
      EXPECT_EQ(policy.*row.field, measured ? row.values[static_cast<int>(chip)] : portable.*row.field) << row.name;
  }
  EXPECT_EQ(std::ssize(columns), core::kChips - 1) << "columns that chip_of() gives to some chip";
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

TEST(DevicePolicy, IsThePortableOneWhereTheBuildLacksKernelsOfTheChip) {
  const core::DeviceHardware lacking{.has_sm_90_kernels = false};
  EXPECT_FALSE(lacking.has_wgmma());
  EXPECT_EQ(core::chip_of(lacking), core::Chip::portable);
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
  // Other stages that read the points once are then preferred where they take about as long.
  const Problem few{100000, 16, 64, 1};
  facts.policy.fp16_min_queries = 1;
  EXPECT_EQ(plan::choose(few, {}, facts).distance, DistanceStage::fp16);
  facts.policy.fp16_min_queries = few.queries + 1;
  EXPECT_NE(plan::choose(few, {}, facts).distance, DistanceStage::fp16);
  facts.policy.trial_microseconds = 1000000;
  EXPECT_FALSE(plan::choose(problem, {}, facts).tries_passes);
}

}  // namespace
}  // namespace kith
