// Which batches are searched together, by what plan.
#include <gtest/gtest.h>

#include <optional>

#include "kith/error.hpp"
#include "plan/choose.hpp"

namespace kith::plan {
namespace {

core::CpuFacts cpu_with(int threads) {
  core::CpuFacts facts;
  facts.threads = threads;
  facts.free_memory = std::int64_t{1} << 32;
  return facts;
}

Problem batch_of(std::int64_t rows, std::int64_t dims = 3) {
  return {rows, rows, dims, 8};
}

std::optional<Method> chosen(std::int64_t rows, std::int64_t batches, const Options& options = {}) {
  return choose_small_batch(batch_of(rows), batches, options, cpu_with(4));
}

TEST(BatchesPlan, FewPointsAreForBruteForceAndMoreOfThemForATree) {
  EXPECT_EQ(chosen(10, 1000), Method::brute);
  EXPECT_EQ(chosen(100, 1000), Method::brute);
  EXPECT_EQ(chosen(1000, 1000), Method::tree);
  EXPECT_EQ(chosen(100'000, 1000), std::nullopt) << "worth all threads";
}

TEST(BatchesPlan, BatchesThatAreTooFewForTheThreadsAreSharedByThem) {
  EXPECT_EQ(chosen(1000, 16), Method::tree);
  EXPECT_EQ(chosen(1000, 15), std::nullopt);
  EXPECT_EQ(chosen(100, 1), Method::brute);
}

TEST(BatchesPlan, TheMethodThatWasAskedForIsTaken) {
  Options options;
  options.method = Method::tree;
  EXPECT_EQ(chosen(10, 1000, options), Method::tree);
  options.method = Method::brute;
  EXPECT_EQ(chosen(1000, 1000, options), Method::brute);
  options.method = Method::triangle;
  EXPECT_EQ(chosen(10, 1000, options), std::nullopt);
}

TEST(BatchesPlan, DevicesTakeSmallOnesAtOnce) {
  EXPECT_EQ(choose_small_batch(batch_of(10), 1000, {}, core::DeviceFacts()), Method::brute);
  EXPECT_EQ(choose_small_batch(batch_of(5000), 1000, {}, core::DeviceFacts()), std::nullopt);
}

SmallBatches many(Method method, std::int64_t rows, std::int64_t count) {
  return {method, {rows * count, rows * count, 3, 8}, count, rows * count, rows * count, rows, rows};
}

TEST(BatchesPlan, ThreadsAreThoseThatAllBatchesAreWorth) {
  for (const Method method : {Method::brute, Method::tree}) {
    EXPECT_EQ(choose_batches(many(method, 20, 1), {}, cpu_with(4)).threads, 1);
    const Plan plan = choose_batches(many(method, 200, 1000), {}, cpu_with(4));
    EXPECT_EQ(plan.method, method);
    EXPECT_EQ(plan.threads, 4);
    EXPECT_LE(plan.base_tile, 200);
    Options two;
    two.threads = 2;
    EXPECT_EQ(choose_batches(many(method, 20, 1), two, cpu_with(4)).threads, 2);
  }
}

TEST(BatchesPlan, TreesOfAllThreadsFitTheBudget) {
  Options options;
  options.method = Method::tree;
  const Plan free = choose_batches(many(Method::tree, 500, 1000), options, cpu_with(8));
  EXPECT_EQ(free.threads, 8);
  options.memory_budget = free.workspace_bytes / 3;
  const Plan tight = choose_batches(many(Method::tree, 500, 1000), options, cpu_with(8));
  EXPECT_EQ(tight.threads, 2);
  EXPECT_LE(tight.workspace_bytes, options.memory_budget);
}

}  // namespace
}  // namespace kith::plan
