// Promise 4, a budget is a budget: work is tiled to it and completes with the same answer, or the error names the
// smallest budget that would do.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "kith/search.hpp"
#include "kith/topk.hpp"
#include "support/budget.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

struct BudgetCase {
  Shape shape;
  std::int64_t k;
  MetricKind metric;
};

const std::vector<BudgetCase>& budget_cases() {
  static const std::vector<BudgetCase> cases = {{{6000, 60, 64}, 10, MetricKind::euclidean},
                                                {{6000, 20, 8}, 1000, MetricKind::manhattan},
                                                {{20000, 1, 64}, 20000, MetricKind::sqeuclidean},
                                                {{1000, 50, 200}, 1000, MetricKind::cosine},
                                                {{500, 600, 20}, 17, MetricKind::inner_product}};
  return cases;
}

template <Element T>
void expect_same_within(std::int64_t budget, const Sample<T>& sample, std::int64_t k, Options options,
                        const Neighbors<DistanceOf<T>>& want) {
  run_within(budget, [&](std::int64_t bytes) {
    options.memory_budget = bytes;
    const auto got = search(sample, k, options);
    EXPECT_LE(got.report.plan.workspace_bytes, bytes);
    EXPECT_EQ(got.report.plan.budget_bytes, bytes);
    EXPECT_TRUE(same_answer(got, want)) << "budget " << bytes;
  });
}

TEST(Promise4ABudgetIsABudget, AnyBudgetGivesTheSameAnswerOrNamesTheLeast) {
  for (const BudgetCase& c : budget_cases()) {
    const Sample<float> sample = generate<float>(Kind::gaussian, c.shape, c.metric, 1);
    const Options options = options_for(c.metric);
    const Neighbors<float> want = search(sample, c.k, options);
    for (const std::int64_t budget : {1, 4096, 1 << 16, 1 << 20, 1 << 24})
      expect_same_within(budget, sample, c.k, options, want);
  }
}

TEST(Promise4ABudgetIsABudget, SixteenMebibytesAreEnoughForModestWork) {
  for (const std::int64_t scale : {1, 10}) {
    for (const BudgetCase& c : budget_cases()) {
      Options options = options_for(c.metric);
      options.memory_budget = 16 << 20;
      options.threads = 2;
      const Problem problem{scale * c.shape.base_rows, scale * c.shape.queries, c.shape.dims, c.k, DType::float32};
      EXPECT_NO_THROW(explain(problem, options)) << problem.base_rows << " points";
    }
  }
}

TEST(Promise4ABudgetIsABudget, HoldsForOtherTypesAndStages) {
  for (const DType dtype : all_dtypes()) {
    with_dtype(dtype, [&]<class T>() {
      const Sample<T> sample = generate<T>(Kind::clustered, {3000, 30, 96}, MetricKind::euclidean, 2);
      const auto want = search(sample, 30);
      for (const DistanceStage stage : stages_of(dtype)) {
        expect_same_within(1 << 20, sample, 30, options_for(stage, 2), want);
      }
    });
  }
}

TEST(Promise4ABudgetIsABudget, TopkKeepsToItToo) {
  const Sample<float> sample = generate<float>(Kind::uniform, {400, 1, 3000}, MetricKind::euclidean, 3);
  TopkOptions options;
  const Topk<float> want = topk(sample.base.view(), 100, options);
  options.memory_budget = 1 << 20;
  const Topk<float> got = topk(sample.base.view(), 100, options);
  EXPECT_EQ(got.ids, want.ids);
  EXPECT_EQ(got.values, want.values);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// A field of /proc/self/status in bytes.
std::int64_t memory_status(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string name;
  std::int64_t kibibytes = 0;
  while (status >> name) {
    if (name == field + ":") {
      status >> kibibytes;
      return kibibytes * 1024;
    }
    status.ignore(1024, '\n');
  }
  return 0;
}

// The process's own peak, as the kernel counts it. The matrix of distances would take 480 MB.
TEST(Promise4ABudgetIsABudget, TheProcessDoesNotGrowBeyondIt) {
  constexpr std::int64_t kBudget = std::int64_t{4} << 20;
  constexpr std::int64_t kSlack = std::int64_t{24} << 20;  // outputs, thread stacks, BLAS's own buffers
  const Sample<float> sample = generate<float>(Kind::uniform, {200000, 600, 16}, MetricKind::euclidean, 4);
  for (const DistanceStage stage : distance_stages(Backend::cpu)) {
    Options options = options_for(stage);
    options.memory_budget = kBudget;
    options.threads = 2;
    try {
      search(sample.base.view(), sample.queries.view().rows_from(0, 2), 10, options);  // what is set up once
      std::ofstream("/proc/self/clear_refs") << 5;                                     // the peak restarts here
      const std::int64_t before = memory_status("VmRSS");
      ASSERT_GT(before, 0);
      search(sample, 10, options);
      EXPECT_LE(memory_status("VmHWM") - before, kBudget + kSlack) << stage;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    }
  }
}

#endif

}  // namespace
}  // namespace kith::test
