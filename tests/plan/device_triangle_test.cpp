// Plans of method triangle on a device.
#include <gtest/gtest.h>

#include "kith/error.hpp"
#include "plan/choose.hpp"
#include "support/large_device.hpp"

namespace kith {
namespace {

Options asks_for_triangle(TriangleForm form) {
  Options options;
  options.method = Method::triangle;
  options.triangle.form = form;
  return options;
}

Plan plan_for(const Problem& problem, const Options& options, const core::DeviceFacts& facts = test::large_device()) {
  return plan::choose(problem, options, facts);
}

TEST(DeviceTriangle, DecidesWhatWasLeftOpen) {
  const Plan plan = plan_for({245057, 245057, 4, 20}, asks_for_triangle(TriangleForm::automatic));
  EXPECT_EQ(plan.method, Method::triangle);
  EXPECT_EQ(plan.triangle.form, TriangleForm::interval_scan);
  EXPECT_EQ(plan.triangle.base_landmarks, 1485);  // 3 √n
  EXPECT_EQ(plan.triangle.query_landmarks, 1485);
  EXPECT_EQ(plan.query_block, 245057);
  EXPECT_GT(plan.seconds, 0);
  EXPECT_LE(plan.workspace_bytes, plan.budget_bytes);
}

TEST(DeviceTriangle, KeepsWhatWasAskedForAsFarAsThereArePoints) {
  Options options = asks_for_triangle(TriangleForm::interval_scan);
  options.triangle.base_landmarks = 500;
  options.triangle.query_landmarks = 7;
  const Plan plan = plan_for({200, 50, 3, 5}, options);
  EXPECT_EQ(plan.triangle.base_landmarks, 200);
  EXPECT_EQ(plan.triangle.query_landmarks, 7);
}

// Chen et al., figure 8: more than 8 neighbors a dimension make the filter partial.
TEST(DeviceTriangle, FilterFollowsKAndDimensions) {
  EXPECT_EQ(plan_for({10000, 10000, 4, 32}, asks_for_triangle(TriangleForm::sweet_knn)).triangle.filter,
            TriangleFilter::full);
  EXPECT_EQ(plan_for({10000, 10000, 4, 33}, asks_for_triangle(TriangleForm::sweet_knn)).triangle.filter,
            TriangleFilter::partial);
}

// Lists of up to 114 bytes lie in shared memory, longer ones in registers as far as these go.
TEST(DeviceTriangle, PlacementFollowsTheSizeOfAList) {
  const auto placement = [](std::int64_t k) {
    return plan_for({10000, 10000, 1000, k}, asks_for_triangle(TriangleForm::sweet_knn)).triangle.placement;
  };
  EXPECT_EQ(placement(14), TrianglePlacement::shared);
  EXPECT_EQ(placement(15), TrianglePlacement::registers);
  EXPECT_EQ(placement(64), TrianglePlacement::registers);
  EXPECT_EQ(placement(65), TrianglePlacement::global);
}

// A quarter of 132 · 2048 threads, however few queries there are.
TEST(DeviceTriangle, ThreadsFollowTheNumberOfQueries) {
  const auto threads = [](std::int64_t queries) {
    return plan_for({100000, queries, 10, 5}, asks_for_triangle(TriangleForm::sweet_knn)).triangle.threads_per_query;
  };
  EXPECT_EQ(threads(100000), 1);
  EXPECT_EQ(threads(1000), 67);
  EXPECT_EQ(threads(1), 1024);
}

TEST(DeviceTriangle, RefusesWhatKernelsCannotDo) {
  const auto refusal = [](Options options, std::int64_t k) {
    try {
      plan_for({100000, 1000, 10, k}, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  Options options = asks_for_triangle(TriangleForm::interval_scan);
  options.triangle.threads_per_query = 512;
  EXPECT_EQ(refusal(options, 5),
            "method triangle, form interval-scan: threads_per_query = 512 is outside the limits 0 to 256");
  options = asks_for_triangle(TriangleForm::sweet_knn);
  options.triangle.placement = TrianglePlacement::registers;
  EXPECT_EQ(refusal(options, 64), "nothing");
  EXPECT_EQ(refusal(options, 65),
            "method triangle, form sweet-knn: k of neighbors in registers = 65 is outside the limits 1 to 64");
  options.triangle.placement = TrianglePlacement::shared;
  options.triangle.filter = TriangleFilter::full;
  EXPECT_EQ(refusal(options, 700),
            "method triangle, form sweet-knn: k of neighbors in shared memory = 700 is outside the limits 1 to 640");
  options.triangle.filter = TriangleFilter::partial;
  EXPECT_EQ(refusal(options, 700), "nothing");
}

// The lists of a warp, of 8 bytes a neighbor, must fit the shared memory of a block.
TEST(DeviceTriangle, ListsInSharedMemoryFitTheChip) {
  Options options = asks_for_triangle(TriangleForm::sweet_knn);
  options.triangle.placement = TrianglePlacement::shared;
  options.triangle.filter = TriangleFilter::full;
  core::DeviceFacts small = test::large_device();
  small.policy = core::policy_for({.compute_major = 8, .compute_minor = 6, .shared_per_block = 99 << 10});
  EXPECT_EQ(plan_for({10000, 100, 4, 396}, options, small).triangle.placement, TrianglePlacement::shared);
  EXPECT_THROW(plan_for({10000, 100, 4, 397}, options, small), Error);
  EXPECT_EQ(plan_for({10000, 100, 4, 397}, options).triangle.placement, TrianglePlacement::shared);
}

TEST(DeviceTriangle, SmallBudgetsTakeFewerQueriesAtATimeOrAreRefused) {
  Options options = asks_for_triangle(TriangleForm::interval_scan);
  options.memory_budget = 4 << 20;
  const Plan plan = plan_for({20000, 1000000, 4, 5}, options);
  EXPECT_LT(plan.query_block, 1000000);
  EXPECT_LT(plan.workspace_bytes, 4 << 20);
  options.memory_budget = 1 << 20;
  EXPECT_THROW(plan_for({20000, 1000000, 4, 5}, options), Error);
}

}  // namespace
}  // namespace kith
