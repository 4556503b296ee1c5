// Times of searches: the least of at least two counts, for searches of about the same size, and none that ran beside
// another.
#include "cuda/search_times.hpp"

#include "device_test.hpp"

namespace kith::test {
namespace {

using device::SearchTimes;
using device::SearchTiming;

using SearchTimesTest = DeviceTest;

constexpr Problem kProblem{1000, 100, 8, 10};

Plan plan_of(const Problem& problem, DistanceStage distance = DistanceStage::fp16) {
  Plan plan;
  plan.problem = problem;
  plan.method = Method::fused;
  plan.distance = distance;
  return plan;
}

void time_search(SearchTimes& times, const Plan& plan, const device::Stream& stream) {
  times.end(times.begin(plan, stream), stream);
  stream.synchronize();
}

TEST_F(SearchTimesTest, CountFromTheSecondOn) {
  SearchTimes times;
  times.add(kProblem, Method::fused, DistanceStage::fp16, 3);
  EXPECT_TRUE(times.of(kProblem).empty());
  times.add(kProblem, Method::two_stage, DistanceStage::fp16, 1);
  EXPECT_TRUE(times.of(kProblem).empty());
  times.add(kProblem, Method::fused, DistanceStage::fp16, 2);
  times.add(kProblem, Method::fused, DistanceStage::fp16, 4);
  const auto timed = times.of(kProblem);
  ASSERT_EQ(timed.size(), 1U);
  EXPECT_EQ(timed[0].method, Method::fused);
  EXPECT_EQ(timed[0].distance, DistanceStage::fp16);
  EXPECT_EQ(timed[0].seconds, 2);
}

TEST_F(SearchTimesTest, AreThoseOfSimilarSearches) {
  SearchTimes times;
  for (int i = 0; i < 2; ++i) times.add(kProblem, Method::fused, DistanceStage::fp16, 3);
  const auto known = [&](Problem problem) { return !times.of(problem).empty(); };
  EXPECT_TRUE(known(kProblem));
  Problem other = kProblem;
  other.queries = 103;
  EXPECT_TRUE(known(other));
  other.queries = 200;
  EXPECT_FALSE(known(other));
  other = kProblem;
  other.k = 20;
  EXPECT_FALSE(known(other));
  other = kProblem;
  other.self = true;
  EXPECT_FALSE(known(other));
}

TEST_F(SearchTimesTest, EndWhenTheyAreKnown) {
  const device::Stream stream;
  SearchTimes times;
  const Plan plan = plan_of(kProblem);
  time_search(times, plan, stream);
  EXPECT_TRUE(times.of(kProblem).empty());
  time_search(times, plan, stream);
  EXPECT_EQ(times.of(kProblem).size(), 1U);
  EXPECT_TRUE(times.begin(plan, stream).has_value());
  time_search(times, plan, stream);
  times.of(kProblem);
  EXPECT_FALSE(times.begin(plan, stream).has_value());
  EXPECT_TRUE(times.begin(plan_of(kProblem, DistanceStage::gemm), stream).has_value());
}

TEST_F(SearchTimesTest, AreNoneOfSearchesBesideOthers) {
  const device::Stream stream;
  SearchTimes times;
  const Plan plan = plan_of(kProblem);
  for (int i = 0; i < 4; ++i) {
    std::optional<SearchTiming> first = times.begin(plan, stream);
    std::optional<SearchTiming> beside = times.begin(plan_of(kProblem, DistanceStage::gemm), stream);
    times.end(std::move(first), stream);
    stream.synchronize();
  }
  EXPECT_TRUE(times.of(kProblem).empty());
}

// Whatever is asked for, what is kept has a limit.
TEST_F(SearchTimesTest, ForgetWhenThereAreTooMany) {
  SearchTimes times;
  Problem problem = kProblem;
  for (problem.k = 1; problem.k < 100000; problem.k *= 2)
    for (problem.queries = 1; problem.queries < 10000000; problem.queries *= 2)
      for (int i = 0; i < 2; ++i) times.add(problem, Method::fused, DistanceStage::fp16, 1);
  EXPECT_TRUE(times.of({1000, 1, 8, 1}).empty());
}

}  // namespace
}  // namespace kith::test
