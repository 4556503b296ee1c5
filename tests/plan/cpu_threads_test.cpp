// How many threads a plan takes: as many as the work is worth, or as were asked for.
#include "plan/cpu_threads.hpp"

#include <gtest/gtest.h>

#include <string>

#include "plan/choose.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

constexpr int kThreads = 64;

core::CpuFacts facts() {
  core::CpuFacts facts;
  facts.threads = kThreads;
  facts.threads_source = "a test";
  facts.free_memory = std::int64_t{1} << 36;
  return facts;
}

const std::vector<Method>& methods() {
  static const std::vector<Method> all = {Method::brute, Method::triangle, Method::shifted_sort};
  return all;
}

Plan plan_for(std::int64_t rows, std::int64_t queries, Method method, int threads = 0) {
  Options options;
  options.method = method;
  options.threads = threads;
  return plan::choose({rows, queries, 3, 5, DType::float32}, options, facts());
}

TEST(CpuThreads, WorkOfMicrosecondsTakesOne) {
  EXPECT_EQ(plan_for(10000, 1, Method::brute).threads, 1);
  EXPECT_EQ(plan_for(10000, 1, Method::brute).threads_reason, "the work is worth no more");
  for (const Method method : methods()) EXPECT_EQ(plan_for(100, 1, method).threads, 1) << to_string(method);
}

TEST(CpuThreads, WorkOfSecondsTakesAll) {
  for (const Method method : methods()) {
    const Plan plan = plan_for(1000000, 100000, method);
    EXPECT_EQ(plan.threads, kThreads) << to_string(method);
    EXPECT_EQ(plan.threads_reason, "a test");
    EXPECT_NE(to_string(plan).find("64 threads (a test)"), std::string::npos) << plan;
  }
}

TEST(CpuThreads, EachHasEnoughToDo) {
  for (const Method method : methods()) {
    int before = 1;
    for (std::int64_t rows = 100; rows <= 10000000; rows *= 10) {
      const Plan plan = plan_for(rows, 10, method);
      EXPECT_GE(plan.threads, before) << to_string(method) << ' ' << rows;
      if (plan.threads > 1) {
        EXPECT_GE(plan.seconds, 0.99 * plan::kSecondsOfAThread) << to_string(method) << ' ' << rows;
      }
      before = plan.threads;
    }
    EXPECT_GT(before, 1) << to_string(method);
  }
}

TEST(CpuThreads, RadiusSearchesFollowTheSameRule) {
  const auto threads = [](std::int64_t rows, std::int64_t queries) {
    return plan::choose_radius({rows, queries, 3, 0, DType::float32}, {}, facts()).threads;
  };
  EXPECT_EQ(threads(10000, 1), 1);
  EXPECT_EQ(threads(1000000, 100000), kThreads);
}

TEST(CpuThreads, ANumberIsTakenAsItIs) {
  for (const Method method : methods()) {
    const Plan plan = plan_for(100, 1, method, 7);
    EXPECT_EQ(plan.threads, 7) << to_string(method);
    EXPECT_EQ(plan.threads_reason, "asked for by name");
  }
}

TEST(CpuThreads, ABudgetThatTakesSomeAwayIsNamed) {
  Options options;
  options.method = Method::brute;
  options.memory_budget = 9500000;  // hardly more than the norms take
  const Plan plan = plan::choose({1000000, 100000, 64, 10, DType::float32}, options, facts());
  EXPECT_LT(plan.threads, kThreads);
  EXPECT_EQ(plan.threads_reason, "the memory budget holds no more");
}

}  // namespace
}  // namespace kith::test
