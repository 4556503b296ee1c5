// Searches of one query at a time: each is the row of a search of many, whatever the options; many threads may make
// them at once; and their reports say what those of other searches do.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

Options on_cpu(Method method, const Metric& metric = MetricKind::euclidean) {
  Options options;
  options.backend = Backend::cpu;
  options.method = method;
  options.metric = metric;
  return options;
}

// One search after the other, into the caller's memory.
template <Element T>
Neighbors<DistanceOf<T>> one_by_one(const Index<T>& index, const MatrixView<T>& queries, std::int64_t k) {
  Neighbors<DistanceOf<T>> found;
  found.queries = queries.rows;
  found.k = k;
  found.ids.resize(static_cast<std::size_t>(queries.rows * k));
  found.distances.resize(found.ids.size());
  for (std::int64_t q = 0; q < queries.rows; ++q)
    found.report =
        index.search_into(queries.rows_from(q, 1), k, {found.ids.data() + q * k, found.distances.data() + q * k});
  return found;
}

template <Element T>
void expect_rows(const Sample<T>& sample, const Options& options, std::initializer_list<std::int64_t> ks) {
  const Index<T> index(sample.base.view(), options);
  for (const std::int64_t k : ks) {
    const auto many = index.search(sample.queries.view(), k);
    EXPECT_TRUE(same_answer(one_by_one(index, sample.queries.view(), k), many)) << k;
    const auto first = index.search(sample.queries.view().rows_from(0, 1), k);
    EXPECT_EQ(first.ids, std::vector<std::int64_t>(many.ids.begin(), many.ids.begin() + k)) << k;
  }
}

// From 256 queries on a tree is asked in the order of its leaves.
TEST(IndexOneQuery, IsARowOfManyQueries) {
  for (const DType dtype : all_dtypes())
    with_dtype(dtype, [&]<class T>() {
      for (const Kind kind : {Kind::uniform, Kind::duplicates, Kind::ties})
        for (const std::int64_t dims : {2, 3, 8}) {
          SCOPED_TRACE(std::string(to_string(kind)) + " " + std::to_string(dims));
          const Options by_tree = on_cpu(Method::tree);
          expect_rows(generate<T>(kind, {3000, 300, dims}, by_tree.metric, 3), by_tree, {1, 2, 10, 100});
          expect_rows(generate<T>(kind, {500, 10, dims}, by_tree.metric, 3), on_cpu(Method::brute), {1, 10});
        }
    });
}

TEST(IndexOneQuery, OptionsMeanTheSame) {
  const Sample<float> sample = generate<float>(Kind::uniform, {4000, 300, 3}, MetricKind::euclidean, 5);
  Options options = on_cpu(Method::tree);
  options.max_distance = 0.05;
  expect_rows(sample, options, {1, 10});
  options = on_cpu(Method::tree);
  options.period = {1, 0, 0.5};
  expect_rows(sample, options, {1, 10});
  options.threads = 3;
  options.check_finite = false;
  options.memory_budget = std::int64_t{1} << 26;
  expect_rows(sample, options, {1, 10});
}

TEST(IndexOneQuery, EpsilonAllowsNoMoreThanItSays) {
  const Sample<float> sample = generate<float>(Kind::uniform, {4000, 100, 3}, MetricKind::euclidean, 6);
  Options options = on_cpu(Method::tree);
  const Neighbors<float> exact = Index<float>(sample.base.view(), options).search(sample.queries.view(), 10);
  options.epsilon = 0.5;
  options.statistics = true;
  const Neighbors<float> got = one_by_one(Index<float>(sample.base.view(), options), sample.queries.view(), 10);
  for (std::size_t i = 0; i < got.distances.size(); ++i) EXPECT_LE(got.distances[i], exact.distances[i] * 1.500001F);
  EXPECT_TRUE(got.report.plan.approximate);
  ASSERT_TRUE(got.report.quality.has_value());
  EXPECT_EQ(got.report.quality->queries, 1);
}

// Limits of one search leave no trace in the plan of the next, which is the same but for them.
TEST(IndexOneQuery, LimitsAreOfOneSearch) {
  const Sample<float> sample = generate<float>(Kind::uniform, {4000, 1, 3}, MetricKind::euclidean, 7);
  const Index<float> index(sample.base.view(), on_cpu(Method::tree));
  const Neighbors<float> all = index.search(sample.queries.view(), 3);
  std::vector<std::int64_t> ids(3);
  std::vector<float> distances(3);
  SearchLimits limits;
  limits.max_distance = static_cast<double>(all.distances[0]);
  const SearchReport report = index.search_into(sample.queries.view(), 3, {ids.data(), distances.data()}, limits);
  EXPECT_EQ(report.plan.max_distance, limits.max_distance);
  EXPECT_EQ(ids, (std::vector<std::int64_t>{all.ids[0], -1, -1}));
  const Neighbors<float> again = index.search(sample.queries.view(), 3);
  EXPECT_TRUE(same_answer(again, all));
  EXPECT_EQ(again.report.plan.max_distance, std::numeric_limits<double>::infinity());
}

TEST(IndexOneQuery, ReportsWhatWasDone) {
  const Sample<float> sample = generate<float>(Kind::uniform, {20000, 1, 3}, MetricKind::euclidean, 8);
  for (const Method method : {Method::automatic, Method::tree, Method::brute}) {
    const Index<float> index(sample.base.view(), on_cpu(method));
    if (method == Method::automatic) index.search(sample.base.view(), 5);  // for which it makes a tree
    for (int round = 0; round < 3; ++round) {
      const SearchReport report = index.search(sample.queries.view(), 5).report;
      EXPECT_EQ(to_string(report.plan), to_string(index.explain(1, 5)));
      EXPECT_EQ(report.plan.method, method == Method::brute ? Method::brute : Method::tree);
      EXPECT_EQ(report.plan.problem, (Problem{20000, 1, 3, 5, DType::float32, false}));
      EXPECT_FALSE(report.plan.reason.empty());
      EXPECT_GT(report.seconds, 0);
      EXPECT_LT(report.seconds, 60);
      EXPECT_GE(report.finalists, 5);
      EXPECT_LT(report.finalists, 20000);
    }
  }
}

TEST(IndexOneQuery, CallbacksHearOfItAndMayCancel) {
  const Sample<float> sample = generate<float>(Kind::uniform, {4000, 1, 3}, MetricKind::euclidean, 9);
  bool go_on = true;
  std::vector<Progress> heard;
  Options options = on_cpu(Method::tree);
  options.progress = [&](const Progress& progress) {
    heard.push_back(progress);
    return go_on;
  };
  const Index<float> index(sample.base.view(), options);
  heard.clear();
  index.search(sample.queries.view(), 2);
  ASSERT_FALSE(heard.empty());
  EXPECT_EQ(heard.back().done, 4000);
  EXPECT_EQ(heard.back().total, 4000);
  go_on = false;
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, [&] { index.search(sample.queries.view(), 2); }));
  go_on = true;
  EXPECT_EQ(index.search(sample.queries.view(), 2).ids.size(), 2U);
}

TEST(IndexOneQuery, RefusesValuesThatAreNoNumbers) {
  Sample<float> sample = generate<float>(Kind::uniform, {4000, 1, 3}, MetricKind::euclidean, 10);
  const Index<float> index(sample.base.view(), on_cpu(Method::tree));
  const float given = sample.queries(0, 1);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    sample.queries(0, 1) = bad;
    std::int64_t id = 77;
    float distance = 7;
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"query row 0, column 1"}, [&] {
      index.search_into(sample.queries.view(), 1, {&id, &distance});
    }));
    EXPECT_EQ(id, 77);
    EXPECT_EQ(distance, 7);
  }
  sample.queries(0, 1) = given;
  EXPECT_TRUE(finds_the_truth(sample, 1, on_cpu(Method::tree)));
}

// Searches of one index share plans, and what a search through a tree works with.
TEST(IndexOneQuery, ManyThreadsAtOnce) {
  const Sample<float> sample = generate<float>(Kind::uniform, {20000, 200, 3}, MetricKind::euclidean, 11);
  for (const Method method : {Method::tree, Method::automatic}) {
    const Index<float> index(sample.base.view(), on_cpu(method));
    std::vector<Neighbors<float>> want;
    for (const std::int64_t k : {1, 2, 5, 10, 20, 40}) want.push_back(search(sample, k, on_cpu(Method::brute)));
    expect_at_once(8, [&](std::size_t thread) {
      for (std::size_t round = 0; round < want.size(); ++round) {
        const Neighbors<float>& right = want[(thread + round) % want.size()];
        const auto same = same_answer(one_by_one(index, sample.queries.view(), right.k), right);
        if (!same) return same;
      }
      return testing::AssertionSuccess();
    });
  }
}

}  // namespace
}  // namespace kith::test
