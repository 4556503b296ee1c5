// Times of earlier searches replace predictions: what took longer than others promise gives way to them, and what was
// tried is not tried again.
#include <gtest/gtest.h>

#include "plan/choose.hpp"
#include "support/large_device.hpp"

namespace kith {
namespace {

using plan::IndexFacts;
using plan::TimedStage;

constexpr Problem kTimedSearch{1000000, 10000, 128, 10};

Plan chosen(const std::vector<TimedStage>& timed, const plan::DataSamples& samples = {},
            Problem problem = kTimedSearch) {
  IndexFacts index;
  index.timed = timed;
  return plan::choose(problem, {}, test::large_device(), index, samples);
}

TimedStage timed_as(const Plan& plan, double seconds) {
  return {plan.method, plan.distance, seconds};
}

bool is_same(const Plan& a, const Plan& b) {
  return a.method == b.method && a.distance == b.distance;
}

TEST(TimedStages, APlanThatKeepsItsPromiseStays) {
  const Plan first = chosen({});
  const Plan again = chosen({timed_as(first, first.seconds)});
  EXPECT_TRUE(is_same(again, first));
  EXPECT_DOUBLE_EQ(again.seconds, first.seconds);
  EXPECT_NE(again.reason.find("earlier searches"), std::string::npos) << again.reason;
  EXPECT_EQ(first.reason.find("earlier searches"), std::string::npos) << first.reason;
}

TEST(TimedStages, APlanThatTookLongerGivesWay) {
  const Plan first = chosen({});
  const Plan second = chosen({timed_as(first, 10)});
  EXPECT_FALSE(is_same(second, first));
  EXPECT_LT(second.seconds, 10);
  EXPECT_EQ(second.reason.find("earlier searches"), std::string::npos) << second.reason;
}

// However slow all of them are, each is timed once, and then the fastest is taken.
TEST(TimedStages, TheFastestIsTakenOnceAllWereTried) {
  std::vector<TimedStage> timed;
  double seconds = 10;
  for (int tries = 0; tries < 20; ++tries) {
    const Plan plan = chosen(timed);
    const auto same = [&](const TimedStage& one) { return one.method == plan.method && one.distance == plan.distance; };
    if (std::any_of(timed.begin(), timed.end(), same)) break;
    timed.push_back(timed_as(plan, seconds));
    seconds += timed.size() == 3 ? -5 : 1;  // the fourth is the fastest
  }
  ASSERT_GE(timed.size(), 5U);
  EXPECT_LT(timed.size(), 20U);
  const Plan settled = chosen(timed);
  EXPECT_EQ(settled.method, timed[3].method);
  EXPECT_EQ(settled.distance, timed[3].distance);
}

TEST(TimedStages, StagesByNameStay) {
  IndexFacts index;
  Options options;
  options.distance = DistanceStage::gemm;
  index.timed = {{Method::two_stage, DistanceStage::gemm, 10}};
  EXPECT_EQ(plan::choose(kTimedSearch, options, test::large_device(), index).distance, DistanceStage::gemm);
}

// In few dimensions, where a sample says that few distances are left.
class TimedTriangle : public testing::Test {
 protected:
  Plan plan(const std::vector<TimedStage>& timed) {
    plan::DataSamples samples;
    samples.surviving_fractions = [this](const Plan&) {
      ++sampled_;
      return plan::SurvivingFractions{surviving_, 1};
    };
    samples.first_pass_suffices = [](const Plan&) { return true; };
    return chosen(timed, samples, {1000000, 1000, 8, 10});
  }

  double surviving_ = 0.5;
  int sampled_ = 0;
};

TEST_F(TimedTriangle, IsSampledOnceBruteForceIsKnownToBeSlow) {
  const Plan first = plan({});
  EXPECT_NE(first.method, Method::triangle);
  surviving_ = 1e-4;
  sampled_ = 0;
  const Plan second = plan({timed_as(first, 10 * first.seconds)});
  EXPECT_EQ(sampled_, 1);
  EXPECT_EQ(second.method, Method::triangle);
}

TEST_F(TimedTriangle, IsTakenOrLeftByItsTime) {
  const Plan brute = plan({});
  const TimedStage slow = timed_as(brute, 10 * brute.seconds);
  surviving_ = 1e-4;
  const Plan triangle = plan({slow});
  ASSERT_EQ(triangle.method, Method::triangle);
  sampled_ = 0;
  const Plan taken = plan({timed_as(brute, brute.seconds), timed_as(triangle, brute.seconds / 2)});
  EXPECT_EQ(taken.method, Method::triangle);
  EXPECT_DOUBLE_EQ(taken.seconds, brute.seconds / 2);
  const Plan left = plan({timed_as(brute, brute.seconds), timed_as(triangle, 2 * brute.seconds)});
  EXPECT_TRUE(is_same(left, brute));
  EXPECT_EQ(sampled_, 0);
}

}  // namespace
}  // namespace kith
