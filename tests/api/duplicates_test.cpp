// A base most of whose rows are copies: devices search each row once, and every function answers as the CPU does.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/device_memory.hpp"
#include "support/on_backend.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

// Where devices begin to look for copies.
constexpr std::int64_t kCopiedRows = 4100;
constexpr std::int64_t kDistinctRows = 90;

class Duplicates : public OnBackend {};

// Rows of a small grid, whose distances many share, in any order; half of the copies have −0 for 0.
template <Element T>
Sample<T> copies(const Metric& metric) {
  const Sample<T> rows = generate<T>(Kind::ties, {kDistinctRows, 13, 6}, metric, 5);
  Sample<T> sample{Matrix<T>(kCopiedRows, 6), rows.queries};
  Random random(6);
  for (std::int64_t i = 0; i < kCopiedRows; ++i) {
    const std::int64_t from = random.below(kDistinctRows);
    for (std::int64_t c = 0; c < 6; ++c) {
      sample.base(i, c) = rows.base(from, c);
      if (std::is_floating_point_v<T> && i % 2 == 1 && sample.base(i, c) == 0) sample.base(i, c) = static_cast<T>(-0.0);
    }
  }
  return sample;
}

Options cpu_options(const Metric& metric) {
  Options options = options_for(metric);
  options.backend = Backend::cpu;
  return options;
}

template <Element T>
void expect_same_searches(const Metric& metric, const Options& options) {
  const Sample<T> sample = copies<T>(metric);
  const Index<T> index(sample.base.view(), options);
  const Index<T> right(sample.base.view(), cpu_options(metric));
  for (const std::int64_t k : {std::int64_t{1}, std::int64_t{70}, std::int64_t{1000}, kCopiedRows}) {
    const auto got = index.search(sample.queries.view(), k);
    EXPECT_TRUE(same_answer(got, right.search(sample.queries.view(), k)))
        << kith::to_string(metric) << ' ' << kith::to_string(dtype_of<T>()) << ", k = " << k;
    // Some rows of the grid occur twice.
    EXPECT_GT(got.report.plan.distinct_rows, 0);
    EXPECT_LE(got.report.plan.distinct_rows, kDistinctRows);
    EXPECT_EQ(got.report.plan.problem.base_rows, kCopiedRows);
    EXPECT_EQ(got.report.plan.problem.k, k);
  }
}

TEST_P(Duplicates, AreSearchedOnceForAll) {
  for (const Metric& metric : all_metrics()) {
    if (metric.kind == MetricKind::minkowski && GetParam() != Backend::emulated) continue;  // powers are a device's own
    expect_same_searches<float>(metric, options(metric));
  }
  expect_same_searches<double>(MetricKind::euclidean, options());
  expect_same_searches<std::uint8_t>(MetricKind::euclidean, options());
  expect_same_searches<std::int8_t>(MetricKind::cosine, options(MetricKind::cosine));
}

TEST_P(Duplicates, AreNeighborsOfEachOther) {
  const Sample<float> sample = copies<float>(MetricKind::euclidean);
  const Index<float> index(sample.base.view(), options());
  const Index<float> right(sample.base.view(), cpu_options(MetricKind::euclidean));
  EXPECT_TRUE(same_answer(index.search_self(60), right.search_self(60)));
  EXPECT_TRUE(same_answer(index.search(sample.base.view(), 9), right.search(sample.base.view(), 9)));
  const auto graph = index.graph(5, Symmetrize::mutual);
  const auto right_graph = right.graph(5, Symmetrize::mutual);
  EXPECT_EQ(graph.indptr, right_graph.indptr);
  EXPECT_EQ(graph.indices, right_graph.indices);
  EXPECT_EQ(graph.data, right_graph.data);
}

TEST_P(Duplicates, AreAllWithinARadius) {
  const Sample<float> sample = copies<float>(MetricKind::manhattan);
  const Index<float> index(sample.base.view(), options(MetricKind::manhattan));
  const Index<float> right(sample.base.view(), cpu_options(MetricKind::manhattan));
  const std::vector<float> radii = {4};
  const auto got = index.search_radius(sample.queries.view(), radii, RadiusOutput::neighbors);
  const auto want = right.search_radius(sample.queries.view(), radii, RadiusOutput::neighbors);
  EXPECT_FALSE(got.ids.empty());
  EXPECT_EQ(got.offsets, want.offsets);
  EXPECT_EQ(got.ids, want.ids);
  EXPECT_EQ(got.distances, want.distances);
}

// Values and coordinates are those of the rows themselves.
TEST_P(Duplicates, AreReducedOneByOne) {
  const Sample<float> sample = copies<float>(MetricKind::euclidean);
  const Index<float> index(sample.base.view(), options());
  const Index<float> right(sample.base.view(), cpu_options(MetricKind::euclidean));
  Matrix<float> values(kCopiedRows, 2);
  for (std::int64_t i = 0; i < 2 * kCopiedRows; ++i) values.data()[i] = static_cast<float>(i);
  for (const ReduceOp op : {ReduceOp::mean, ReduceOp::covariance}) {
    const auto got = index.reduce(sample.queries.view(), 60, values.view(), op);
    const auto want = right.reduce(sample.queries.view(), 60, values.view(), op);
    EXPECT_GT(got.report.plan.distinct_rows, 0);
    EXPECT_TRUE(
        std::equal(got.values.data(), got.values.data() + got.values.rows() * got.values.cols(), want.values.data()))
        << to_string(op);
  }
}

TEST_P(Duplicates, AreLeftToTriangleAsTheyAre) {
  const Sample<float> sample = copies<float>(MetricKind::euclidean);
  Options triangle = options();
  triangle.method = Method::triangle;
  const auto got = search(sample, 70, triangle);
  EXPECT_TRUE(same_answer(got, search(sample, 70, cpu_options(MetricKind::euclidean))));
  EXPECT_EQ(got.report.plan.distinct_rows, 0);
}

TEST_P(Duplicates, MayLieOnTheDevice) {
  constexpr std::int64_t kNeighbors = 80;
  const Sample<float> sample = copies<float>(MetricKind::euclidean);
  const auto placed = [](const Matrix<float>& points) {
    return Placed<float>({points.data(), points.data() + points.rows() * 6}, Memory::device, GetParam());
  };
  Placed<float> base = placed(sample.base);
  Placed<float> queries = placed(sample.queries);
  const auto count = static_cast<std::size_t>(sample.queries.rows() * kNeighbors);
  Placed<float> distances(std::vector<float>(count), Memory::device, GetParam());
  Placed<std::int64_t> ids(std::vector<std::int64_t>(count), Memory::device, GetParam());
  const Index<float> index(base.view(kCopiedRows, 6, 6), options());
  const SearchReport report = index.search_into(queries.view(sample.queries.rows(), 6, 6), kNeighbors,
                                                {ids.data(), distances.data(), Memory::device});
  EXPECT_GT(report.plan.distinct_rows, 0);
  const auto want = search(sample, kNeighbors, cpu_options(MetricKind::euclidean));
  EXPECT_EQ(ids.values(), want.ids);
  EXPECT_EQ(distances.values(), want.distances);
}

TEST_P(Duplicates, AreReadInThePlan) {
  const Sample<float> sample = copies<float>(MetricKind::euclidean);
  const Index<float> index(sample.base.view(), options());
  const Plan plan = index.explain(1000, 10);
  EXPECT_EQ(plan.base_tile, plan.distinct_rows);
  const std::string said = std::to_string(plan.distinct_rows) + " of 4100 rows are distinct: each is searched once";
  EXPECT_NE(to_string(plan).find(said), std::string::npos) << plan;
}

// Progress is that of the whole base.
TEST_P(Duplicates, AreCountedAsDone) {
  const Sample<float> sample = copies<float>(MetricKind::euclidean);
  Progress last;
  Options reported = options();
  reported.progress = [&](const Progress& progress) {
    last = progress;
    return true;
  };
  const Index<float> index(sample.base.view(), reported);
  index.search(sample.queries.view(), 5);
  EXPECT_EQ(last.total, kCopiedRows * sample.queries.rows());
  EXPECT_EQ(last.done, last.total);
}

TEST_P(Duplicates, AreLeftWhereMostRowsDifferOrThereIsNoRoom) {
  Sample<float> differing = copies<float>(MetricKind::euclidean);
  for (std::int64_t i = 0; i < kCopiedRows * 3 / 4; ++i) differing.base(i, 0) = static_cast<float>(i);
  struct Base {
    const Sample<float>& sample;
    std::int64_t budget;
  };
  // A row takes 48 bytes, and half of the budget must hold copies too.
  const Sample<float> sample = copies<float>(MetricKind::euclidean);
  for (const Base& base : {Base{differing, 0}, {sample, 2 * 48 * kCopiedRows}}) {
    Options within = options();
    within.memory_budget = base.budget;
    const Index<float> index(base.sample.base.view(), within);
    const auto got = index.search(base.sample.queries.view(), 12);
    EXPECT_EQ(got.report.plan.distinct_rows, 0) << base.budget << " bytes";
    EXPECT_TRUE(same_answer(got, search(base.sample, 12, cpu_options(MetricKind::euclidean))));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Duplicates, testing::ValuesIn(device_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Duplicates);

}  // namespace
}  // namespace kith::test
