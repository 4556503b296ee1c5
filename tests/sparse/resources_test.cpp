// Budgets, threads and progress change nothing but the way.
#include <gtest/gtest.h>

#include "sparse/dense_twin.hpp"
#include "sparse/sparse_points.hpp"
#include "support/budget.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

class SparseResources : public testing::Test {
 protected:
  Matrix<float> base_ = sparse_points<float>({3000, 200, 0.05}, Values::counts, 71, true);
  Matrix<float> queries_ = sparse_points<float>({50, 200, 0.05}, Values::counts, 72, true);
  Csr<float> sparse_ = csr_of(base_);
  Csr<float> asked_ = csr_of(queries_);
};

TEST_F(SparseResources, ABudgetIsABudget) {
  for (const SparseMetric metric : kSparseMetrics) {
    SCOPED_TRACE(to_string(metric));
    const List<float> want = expected_nearest(base_, &queries_, 20, metric);
    std::int64_t most_parts = 0;
    for (const std::int64_t budget : {1, 70'000, 100'000, 200'000, 400'000, 1'000'000, 100'000'000}) {
      SCOPED_TRACE(budget);
      const SparseNeighbors<float> found = run_within(budget, [&](std::int64_t bytes) {
        SparseOptions options;
        options.metric = metric;
        options.memory_budget = bytes;
        options.threads = 3;
        SparseNeighbors<float> made = search_sparse(sparse_.view(), asked_.view(), 20, options);
        EXPECT_LE(made.report.workspace_bytes, bytes);
        EXPECT_EQ(made.report.budget_bytes, bytes);
        return made;
      });
      EXPECT_TRUE(same_bits(found.ids, found.distances, want));
      most_parts = std::max(most_parts, found.report.base_parts);
      EXPECT_TRUE(budget < 100'000'000 || found.report.base_parts == 1);
    }
    EXPECT_GT(most_parts, 10);
  }
}

TEST_F(SparseResources, ABudgetHoldsForAllPointsAndWithinARadius) {
  SparseOptions options;
  options.threads = 2;
  const SparseIndex<float> usual(sparse_.view(), options);
  options.memory_budget = 150'000;
  const SparseIndex<float> small(sparse_.view(), options);
  const SparseNeighbors<float> a = usual.search_self(7);
  const SparseNeighbors<float> b = small.search_self(7);
  EXPECT_GT(b.report.base_parts, 1);
  EXPECT_TRUE(same_bits<float>(a.ids, a.distances, expected_nearest<float>(base_, nullptr, 7, options.metric)));
  EXPECT_TRUE(same_bits<float>(b.ids, b.distances, {a.ids, a.distances}));
  const std::vector<float> radii{a.distances[3]};
  const SparseLists<float> c = usual.search_radius_self(radii);
  const SparseLists<float> d = small.search_radius_self(radii);
  EXPECT_GT(d.report.base_parts, 1);
  EXPECT_GT(c.ids.size(), 100U);
  EXPECT_EQ(c.offsets, d.offsets);
  EXPECT_TRUE(same_bits<float>(d.ids, d.distances, {c.ids, c.distances}));
}

TEST_F(SparseResources, ThreadsChangeNothing) {
  for (const SparseMetric metric : kSparseMetrics) {
    SparseOptions options;
    options.metric = metric;
    options.threads = 1;
    const SparseNeighbors<float> one = SparseIndex<float>(sparse_.view(), options).search_self(9);
    for (const int threads : {0, 2, 5}) {
      options.threads = threads;
      const SparseNeighbors<float> found = SparseIndex<float>(sparse_.view(), options).search_self(9);
      EXPECT_TRUE(same_bits<float>(found.ids, found.distances, {one.ids, one.distances})) << to_string(metric);
    }
  }
}

TEST_F(SparseResources, ProgressRisesToTheTotal) {
  std::int64_t last = 0;
  std::int64_t total = 0;
  SparseOptions options;
  options.memory_budget = 300'000;
  const SparseIndex<float> silent(sparse_.view(), options);
  options.progress = [&](const Progress& progress) {
    EXPECT_GE(progress.done, last);
    EXPECT_LE(progress.done, progress.total);
    last = progress.done;
    total = progress.total;
    return true;
  };
  const SparseIndex<float> index(sparse_.view(), options);
  last = 0;
  const SparseNeighbors<float> found = index.search(asked_.view(), 5);
  EXPECT_EQ(last, 3000 * 50);
  EXPECT_EQ(total, 3000 * 50);
  EXPECT_EQ(found.ids, silent.search(asked_.view(), 5).ids);
}

TEST_F(SparseResources, ACallbackStopsASearch) {
  bool stops = false;
  SparseOptions options;
  options.progress = [&](const Progress&) { return !stops; };
  const SparseIndex<float> index(sparse_.view(), options);
  stops = true;
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {"cancelled"}, [&] { index.search(asked_.view(), 5); }));
  EXPECT_TRUE(
      fails_with(ErrorCode::cancelled, {"cancelled"}, [&] { index.search_radius_self(std::vector<float>{1}); }));
  stops = false;
  EXPECT_EQ(index.search(asked_.view(), 5).ids.size(), 250U);
}

}  // namespace
}  // namespace kith::test
