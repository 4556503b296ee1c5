// Plans are made anew where anything that they are made from differs, and where samples were asked.
#include "api/plan_memo.hpp"

#include <gtest/gtest.h>

#include "support/large_device.hpp"

namespace kith {
namespace {

constexpr Problem kProblem{1000000, 10000, 128, 10};

// How often the planner was asked shows in a number that it takes from the machine.
class PlanMemoTest : public testing::Test {
 protected:
  Plan choose(const Problem& problem, const plan::IndexFacts& index = {}, const plan::DataSamples& samples = {}) {
    machine_.free_memory += 2;  // of which half is the budget of a plan
    return choose({problem, index, 0}, machine_, samples);
  }
  Plan choose(const api::PlanMemo::Facts& facts, const plan::Machine& machine, const plan::DataSamples& samples) {
    const std::shared_ptr<const Plan> known = memo_.find(facts);
    return known != nullptr ? *known : *memo_.make(facts, {}, machine, samples);
  }
  // Whether a plan was made now.
  bool is_new(const Plan& plan) const { return plan.budget_bytes == machine_.free_memory / 2; }

  core::DeviceFacts machine_ = test::large_device();
  api::PlanMemo memo_;
};

TEST_F(PlanMemoTest, KeepsWhatIsAskedAgain) {
  const Plan first = choose(kProblem);
  EXPECT_TRUE(is_new(first));
  const Plan again = choose(kProblem);
  EXPECT_FALSE(is_new(again));
  EXPECT_EQ(again.budget_bytes, first.budget_bytes);
  EXPECT_EQ(to_string(again), to_string(first));
}

TEST_F(PlanMemoTest, OtherProblemsAndFactsHavePlansOfTheirOwn) {
  choose(kProblem);
  Problem other = kProblem;
  other.k = 11;
  EXPECT_TRUE(is_new(choose(other)));
  other = kProblem;
  other.self = true;
  EXPECT_TRUE(is_new(choose(other)));
  plan::IndexFacts index;
  index.timed = {{Method::fused, DistanceStage::fp16, 10}};
  const Plan timed = choose(kProblem, index);
  EXPECT_TRUE(is_new(timed));
  EXPECT_NE(timed.distance, DistanceStage::fp16);
  EXPECT_FALSE(is_new(choose(kProblem)));
  index.timed.front().seconds = 1e-6;
  EXPECT_EQ(choose(kProblem, index).distance, DistanceStage::fp16);
}

TEST_F(PlanMemoTest, OtherThreadsHavePlansOfTheirOwn) {
  core::CpuFacts cpu;
  cpu.free_memory = std::int64_t{1} << 32;
  const auto threads = [&](int there) {
    cpu.threads = there;
    return choose({kProblem, {}, there}, cpu, {}).threads;
  };
  EXPECT_EQ(threads(2), 2);
  EXPECT_EQ(threads(4), 4);
  EXPECT_EQ(threads(2), 2);
}

TEST_F(PlanMemoTest, TheOldestGoes) {
  for (std::int64_t k = 1; k <= 5; ++k) {
    Problem problem = kProblem;
    problem.k = k;
    choose(problem);
  }
  Problem problem = kProblem;
  problem.k = 5;
  EXPECT_FALSE(is_new(choose(problem)));
  problem.k = 1;
  EXPECT_TRUE(is_new(choose(problem)));
}

// Samples are of the queries, and may say something else of others.
TEST_F(PlanMemoTest, WhatSamplesDecidedIsAskedAgain) {
  int sampled = 0;
  plan::DataSamples samples;
  samples.surviving_fractions = [&](const Plan&) {
    ++sampled;
    return plan::SurvivingFractions{1e-4, 1};
  };
  samples.first_pass_suffices = [](const Plan&) { return true; };
  const Problem problem{1000000, 1000000, 12, 10};
  ASSERT_EQ(choose(problem, {}, samples).method, Method::triangle);
  ASSERT_EQ(choose(problem, {}, samples).method, Method::triangle);
  EXPECT_EQ(sampled, 2);
}

}  // namespace
}  // namespace kith
