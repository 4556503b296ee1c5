// Selection on a device, as it is planned.
#include "plan/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/chips.hpp"
#include "support/print.hpp"

namespace kith::plan {
namespace {

core::DevicePolicy policy_with(std::int64_t multiprocessors) {
  return core::policy_for({.multiprocessors = multiprocessors});
}

TEST(SelectPlan, AutomaticIsAnotherMethod) {
  for (const std::int64_t rows : {1, 1000, 1000000})
    for (const std::int64_t length : {1, 1000, 0x7FFFFFFF})
      for (const std::int64_t k : {std::min<std::int64_t>(length, 50), length})
        for (const TopkOutput form : {TopkOutput::sorted, TopkOutput::unsorted, TopkOutput::kth_only}) {
          const SelectMethod chosen = choose_select(rows, length, k, form, policy_with(132));
          EXPECT_TRUE(chosen == SelectMethod::radix_select || chosen == SelectMethod::threshold_filter) << chosen;
        }
}

TEST(SelectPlan, ACrossoverOfThePolicyChangesTheMethod) {
  core::DevicePolicy policy = policy_with(132);
  const auto chosen = [&](TopkOutput form = TopkOutput::unsorted) {
    return choose_select(1000, 30000, 2500, form, policy);
  };
  EXPECT_EQ(chosen(), SelectMethod::radix_select);
  EXPECT_EQ(chosen(TopkOutput::sorted), SelectMethod::threshold_filter);
  policy.radix_select_min_k = 2501;
  EXPECT_EQ(chosen(), SelectMethod::threshold_filter);
  policy = policy_with(132);
  policy.radix_select_divisor = 11;
  EXPECT_EQ(chosen(), SelectMethod::threshold_filter);
  policy = policy_with(132);
  policy.radix_select_rows_each = 8;
  EXPECT_EQ(chosen(), SelectMethod::threshold_filter);
}

TEST(SelectPlan, EveryChipChangesTheMethodAtItsOwnCrossover) {
  for (const core::DeviceHardware& hardware : test::chips()) {
    const core::DevicePolicy policy = core::policy_for(hardware);
    const std::int64_t k = policy.radix_select_min_k;
    SCOPED_TRACE(testing::Message() << "compute capability " << hardware.compute_major << "." << hardware.compute_minor
                                    << ", k = " << k);
    const auto chosen = [&](std::int64_t wanted) {
      return choose_select(100000, (k - 1) * policy.radix_select_divisor, wanted, TopkOutput::unsorted, policy);
    };
    EXPECT_EQ(chosen(k - 1), SelectMethod::threshold_filter);
    EXPECT_EQ(chosen(k), SelectMethod::radix_select);
  }
}

TEST(SelectPlan, ThePolicySaysWhichRowsABlockTakes) {
  core::DevicePolicy policy = policy_with(132);
  EXPECT_TRUE(plan_threshold(5000, 40000, 100, 4, policy).whole_rows);
  policy.whole_row_max_length = 39999;
  EXPECT_FALSE(plan_threshold(5000, 40000, 100, 4, policy).whole_rows);
}

TEST(SelectPlan, AThresholdKeepsItsPromises) {
  for (const std::int64_t rows : {1, 2, 7, 100, 1000, 100000, 10000000}) {
    for (const unsigned length : {1U, 2U, 100U, core::kShortRow, core::kShortRow + 1, 4096U, 5000U, 20011U, 65536U,
                                  1000003U, 1U << 27U, 0x7FFFFFFFU}) {
      for (const unsigned wanted : {1U, 2U, 10U, 100U, 1000U, 2048U, 2049U, 20000U, 1000000U, length / 2, length}) {
        const unsigned k = std::clamp(wanted, 1U, length);
        for (const unsigned bytes : {4U, 8U}) {
          for (const unsigned processors : {1U, 4U, 132U}) {
            SCOPED_TRACE(testing::Message() << rows << " x " << length << " of " << bytes << " bytes, k = " << k << ", "
                                            << processors << " processors");
            const core::ThresholdPlan plan = plan_threshold(rows, length, k, bytes, policy_with(processors));
            ASSERT_GE(plan.buckets, 1U);
            ASSERT_GE(plan.parts, 1U);
            ASSERT_LE(plan.capacity, length);
            ASSERT_GE(plan.capacity, k);
            ASSERT_LE(plan.staged, plan.capacity);
            ASSERT_TRUE(plan.buckets > 1 || plan.staged <= 16384U) << "shared memory";
            ASSERT_TRUE(k > core::kLargestSmallK ? plan.buckets > 1 : length > core::kShortRow || plan.rank == 0);
            if (plan.rank == 0) {
              ASSERT_EQ(plan.capacity, length) << "every key is a candidate";
              continue;
            }
            ASSERT_GT(plan.chunk, 0U);
            ASSERT_EQ(plan.chunk % 4, 0U) << "chunks are whole vectors of 16 bytes";
            ASSERT_LT(plan.rank, plan.counted(16 / bytes));
            ASSERT_LE(plan.samples, length);
            ASSERT_LE(plan.sample_interval >> 16U, length);
            // So many candidates are expected: more than k, and fewer than there is room for.
            const double share = static_cast<double>(plan.rank) / plan.counted(16 / bytes);
            const double candidates = (plan.minima ? 1 - std::pow(1 - share, bytes / 16.0) : share) * length;
            ASSERT_GT(candidates, k);
            ASSERT_LT(candidates, plan.capacity);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace kith::plan
