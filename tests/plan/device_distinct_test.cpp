// Plans for bases whose rows are mostly copies of others.
#include <gtest/gtest.h>

#include <string>

#include "plan/choose.hpp"
#include "plan/device_plans.hpp"
#include "support/large_device.hpp"

namespace kith {
namespace {

const Problem kManyCopies{1000000, 10000, 128, 100};

TEST(DistinctRows, AreSearchedInsteadOfAll) {
  const core::DeviceFacts facts = test::large_device();
  const Plan all = plan::choose(kManyCopies, {}, facts);
  const Plan plan = plan::choose(kManyCopies, {}, facts, {.distinct_rows = 3003});
  EXPECT_EQ(all.distinct_rows, 0);
  EXPECT_EQ(plan.distinct_rows, 3003);
  EXPECT_EQ(plan.base_tile, 3003);
  EXPECT_EQ(plan.problem.base_rows, kManyCopies.base_rows);
  EXPECT_EQ(plan.problem.k, kManyCopies.k);
  EXPECT_LT(plan.seconds, all.seconds / 5);
  EXPECT_NE(to_string(plan).find("3003 of 1000000 rows are distinct: each is searched once"), std::string::npos);
}

TEST(DistinctRows, MayBeFewerThanNeighbors) {
  const Plan plan = plan::choose(kManyCopies, {}, test::large_device(), {.distinct_rows = 7});
  EXPECT_EQ(plan.problem.k, 100);
  EXPECT_EQ(plan.candidates, 7);
}

// An index that knows has looked; where nobody has, and it costs little beside the search, the data are asked.
TEST(DistinctRows, AreAskedForWhereThatPays) {
  struct Asked {
    Problem problem;
    plan::IndexFacts index;
    int times;
  };
  for (const Asked& asked :
       {Asked{kManyCopies, {.distinct_limit = 500000}, 1},
        {kManyCopies, {.distinct_limit = 0}, 0},
        {kManyCopies, {.distinct_rows = 3003}, 0},
        {{1000000, 1, 128, 100}, {.distinct_limit = 500000}, 0},
        {{1000000, 100, 128, 100}, {.distinct_limit = 500000}, 0},
        {{1000000, 100, 128, 100}, {.distinct_limit = 500000, .bring_seconds = 0.01}, 1},
        {{1000000, 1, 128, 100}, {.distinct_limit = 500000, .serves_once = true, .bring_seconds = 0.01}, 0},
        {{5000, 100, 16, 10}, {.distinct_limit = 2500}, 0}}) {
    for (const std::int64_t found : {0, 2500}) {
      int times = 0;
      plan::DataSamples samples;
      samples.distinct_rows = [&] {
        ++times;
        return found;
      };
      const Plan plan = plan::choose(asked.problem, {}, test::large_device(), asked.index, samples);
      EXPECT_EQ(times, asked.times) << plan;
      EXPECT_EQ(plan.distinct_rows, times > 0 ? found : asked.index.distinct_rows) << plan;
    }
  }
}

TEST(DistinctRows, AreLookedForWhereTheyHaveRoom) {
  const auto limit = [](const Problem& problem, Method method, std::int64_t budget, core::DeviceFacts facts) {
    Options options;
    options.method = method;
    options.memory_budget = budget;
    return plan::choose_index(problem, options, facts).distinct_limit;
  };
  const core::DeviceFacts facts = test::large_device();
  EXPECT_EQ(limit(kManyCopies, Method::automatic, 0, facts), 500000);
  EXPECT_EQ(limit(kManyCopies, Method::fused, 0, facts), 500000);
  EXPECT_EQ(limit(kManyCopies, Method::triangle, 0, facts), 0);
  EXPECT_EQ(limit({4000, 1, 8, 1}, Method::automatic, 0, facts), 0);
  // Half of the budget is for the base, the ids of groups and the copies.
  const auto bytes = static_cast<std::int64_t>(plan::point_bytes(kManyCopies, {}, facts.policy));
  const std::int64_t half = kManyCopies.base_rows * (bytes + 8) + 1000 * bytes;
  EXPECT_EQ(limit(kManyCopies, Method::automatic, 2 * half, facts), 1000);
  EXPECT_EQ(limit(kManyCopies, Method::automatic, 2 * kManyCopies.base_rows * bytes, facts), 0);
  EXPECT_EQ(limit(kManyCopies, Method::automatic, kManyCopies.base_rows * bytes, facts), 0) << "it is streamed";
}

}  // namespace
}  // namespace kith
