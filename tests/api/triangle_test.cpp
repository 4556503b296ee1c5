// Method triangle (Chen et al. Sweet KNN) gives the oracle's answer for all data, numbers of landmarks and threads; its
// counters add up; it is chosen for data with structure and not for noise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "kith/index.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/matrix_of.hpp"
#include "support/on_backend.hpp"
#include "support/oracle.hpp"
#include "support/qemu.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

class Triangle : public OnBackend {
 protected:
  static Options options(const Metric& metric = MetricKind::euclidean, std::int64_t landmarks = 0) {
    Options asked = OnBackend::options(metric);
    asked.method = Method::triangle;
    asked.triangle.base_landmarks = landmarks;
    asked.triangle.query_landmarks = landmarks;
    return asked;
  }
};

TEST_P(Triangle, FindsTheTruthOfTheWholeGenerator) {
  Axes axes{.methods = {Method::triangle}, .threads = {1, 2}, .landmarks = {0, 1, 2, 7, 1 << 20}};
  if (is_cpu()) axes.shapes.push_back({700, 60, 4});
  for (const Case& c : covering_cases(axes, GetParam())) {
    const bool product = c.metric.kind == MetricKind::inner_product;  // the one without a triangle inequality
    const auto work = [&] { return search_matches(c); };
    EXPECT_TRUE(product ? fails_with(ErrorCode::invalid_argument, {"triangle", "inner_product"}, work) : work()) << c;
  }
}

TEST_P(Triangle, AllPointsEqualGiveClustersOfRadiusZero) {
  const Matrix<float> points = matrix_of<float>(200, 3, [](auto, auto c) { return c + 1; });
  const Sample<float> sample{points, matrix_of<float>(5, 3, [](auto, auto c) { return c + 1; })};
  for (const std::int64_t k : {1, 20, 200}) EXPECT_TRUE(finds_the_truth(sample, k, options()));
}

TEST_P(Triangle, ManyCopiesOfFewPoints) {
  Random random(3);
  const auto few = [&](auto, auto) { return random.below(3); };
  const Sample<std::uint8_t> sample{matrix_of<std::uint8_t>(600, 3, few), matrix_of<std::uint8_t>(40, 3, few)};
  for (const std::int64_t k : {1, 7, 100}) EXPECT_TRUE(finds_the_truth(sample, k, options()));
}

TEST_P(Triangle, OneLargeClusterOfCopies) {
  const auto few = [](auto r, auto c) { return (r * 7 % 5 == 0 ? 1 : 0) + c; };
  const Sample<float> sample{matrix_of<float>(9000, 2, few), matrix_of<float>(3, 2, few)};
  for (const std::int64_t k : {1, 30, 2000}) EXPECT_TRUE(finds_the_truth(sample, k, options({}, 1)));
}

TEST_P(Triangle, PointsOnALine) {
  const Sample<float> sample{matrix_of<float>(500, 5, [](auto r, auto c) { return r * (1 + c); }),
                             matrix_of<float>(30, 5, [](auto r, auto c) { return 17 * r * (1 + c) + 1; })};
  for (const std::int64_t landmarks : {0, 1, 500}) EXPECT_TRUE(finds_the_truth(sample, 9, options({}, landmarks)));
}

TEST_P(Triangle, KMayExceedEveryCluster) {
  const Sample<double> sample = generate<double>(Kind::clustered, {400, 20, 6}, MetricKind::euclidean, 5);
  EXPECT_TRUE(finds_the_truth(sample, 300, options(MetricKind::euclidean, 100)));
  EXPECT_TRUE(finds_the_truth(sample, 400, options(MetricKind::euclidean, 400)));
}

TEST_P(Triangle, QueriesFarOutside) {
  Sample<float> sample = generate<float>(Kind::uniform, {300, 12, 4}, MetricKind::euclidean, 6);
  for (std::int64_t r = 0; r < sample.queries.rows(); ++r)
    for (std::int64_t c = 0; c < 4; ++c) sample.queries(r, c) += r % 2 == 0 ? 1e4F : -1e9F;
  EXPECT_TRUE(finds_the_truth(sample, 10, options()));
}

TEST_P(Triangle, OffsetsAndScalesWhereRoundingBites) {
  for (const Metric& metric : {Metric(MetricKind::euclidean), Metric(MetricKind::sqeuclidean),
                               Metric(MetricKind::manhattan), Metric(MetricKind::chebyshev)}) {
    for (const double scale : {1.0, 1e-30, 1e30, 1e-20, 1e18}) {
      for (const double offset : {0.0, 1e6}) {
        Random random(9);
        const auto value = [&](auto, auto) { return (offset + random.uniform()) * scale; };
        const Sample<float> sample{matrix_of<float>(250, 4, value), matrix_of<float>(12, 4, value)};
        EXPECT_TRUE(finds_the_truth(sample, 8, options(metric)))
            << kith::to_string(metric) << " scale " << scale << " offset " << offset;
      }
    }
  }
}

TEST_P(Triangle, SearchOfItselfIsTheGraphOfBruteForce) {
  const Sample<float> sample = generate<float>(Kind::duplicates, {300, 1, 4}, MetricKind::euclidean, 8);
  Options brute;
  brute.backend = Backend::cpu;
  brute.method = Method::brute;
  const Index<float> wanted(sample.base.view(), brute);
  const Index<float> got(sample.base.view(), options());
  EXPECT_TRUE(same_answer(got.search_self(12), wanted.search_self(12)));
  EXPECT_EQ(Index<float>(sample.base.view(), options()).graph(5).indices, wanted.graph(5).indices);
}

TEST_P(Triangle, AnIndexServesManyThreads) {
  const Sample<float> sample = generate<float>(Kind::clustered, {500, 30, 5}, MetricKind::euclidean, 4);
  const auto truth = truth_of(sample, Metric(MetricKind::euclidean));
  const Index<float> index(sample.base.view(), options());
  expect_at_once(3, [&](std::size_t) { return matches_truth(index.search(sample.queries.view(), 11), truth, 11); });
}

TEST_P(Triangle, StatisticsAddUp) {
  const Sample<float> sample = generate<float>(Kind::clustered, {600, 50, 3}, MetricKind::euclidean, 2);
  Options asked = options();
  EXPECT_FALSE(search(sample, 5, asked).report.triangle.has_value());
  asked.statistics = true;
  const auto report = search(sample, 5, asked).report;
  ASSERT_TRUE(report.triangle.has_value());
  const TriangleStatistics& counted = *report.triangle;
  EXPECT_EQ(counted.pairs, 600 * 50);
  EXPECT_GE(counted.query_clusters, 1);
  EXPECT_LE(counted.query_clusters, 50);
  EXPECT_GE(counted.base_clusters, 1);
  EXPECT_LE(counted.cluster_pairs_left, counted.query_clusters * counted.base_clusters);
  EXPECT_LE(counted.pairs_level_1, counted.pairs);
  EXPECT_LE(counted.distances, counted.pairs_level_1);
  EXPECT_GT(counted.distances, 0);
  EXPECT_LE(counted.clusters_visited, 50 * counted.base_clusters);
  EXPECT_GT(counted.saved(), 0);
  EXPECT_LT(counted.saved(), 1);
  std::set<std::string> names;
  for (const TriangleStatistics::Step& step : counted.steps) {
    EXPECT_GE(step.seconds, 0);
    EXPECT_TRUE(names.insert(step.name).second) << step.name << " twice";
  }
  for (const char* name : {"landmarks", "clusters", "level 1", "level 2"}) EXPECT_EQ(names.count(name), 1U) << name;
}

TEST_P(Triangle, TightClustersSaveMost) {
  Random random(5);
  const auto clustered = [&](auto r, auto) { return static_cast<double>(r % 20) * 100 + random.uniform(); };
  const Sample<float> sample{matrix_of<float>(800, 2, clustered), matrix_of<float>(40, 2, clustered)};
  Options asked = options();
  asked.statistics = true;
  const auto report = search(sample, 4, asked).report;
  EXPECT_GT(report.triangle->saved(), 0.9);
}

TEST_P(Triangle, RefusesWhatItCannotDo) {
  const Sample<float> sample = generate<float>(Kind::uniform, {20, 3, 3}, MetricKind::euclidean, 1);
  const auto refused = [&](const Options& asked, const std::vector<std::string>& mentions) {
    return fails_with(ErrorCode::invalid_argument, mentions, [&] { search(sample, 2, asked); });
  };
  EXPECT_TRUE(refused(options(MetricKind::inner_product), {"triangle", "inner_product"}));
  Options asked = options();
  asked.distance = DistanceStage::direct;
  EXPECT_TRUE(refused(asked, {"triangle", "direct"}));
  asked = options(MetricKind::euclidean, -1);
  EXPECT_TRUE(refused(asked, {"landmarks", "-1"}));
  asked = options();
  asked.triangle.threads_per_query = -2;
  EXPECT_TRUE(refused(asked, {"threads_per_query", "-2"}));
  if (!is_cpu()) return;
  asked = options();
  asked.triangle.form = TriangleForm::sweet_knn;
  EXPECT_TRUE(refused(asked, {"cpu", "sweet-knn"}));
}

TEST_P(Triangle, CanBeCancelled) {
  const Sample<float> sample = generate<float>(Kind::clustered, {600, 200, 3}, MetricKind::euclidean, 2);
  Options asked = options();
  asked.progress = [](const Progress& progress) { return progress.fraction() < 0.1; };
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, [&] { search(sample, 5, asked); }));
}

TEST_P(Triangle, ABudgetIsABudget) {
  if (!is_cpu()) GTEST_SKIP() << "budgets of devices have their own tests";
  const Sample<float> sample = generate<float>(Kind::clustered, {2000, 900, 6}, MetricKind::euclidean, 7);
  const auto wanted = search(sample, 6, options());
  bool refused = false;
  for (const std::int64_t budget : {4 << 20, 300 << 10, 250 << 10, 10 << 10}) {
    Options asked = options();
    asked.memory_budget = budget;
    try {
      const auto got = search(sample, 6, asked);
      EXPECT_LE(got.report.plan.workspace_bytes, budget);
      EXPECT_TRUE(same_answer(got, wanted)) << budget;
    } catch (const Error& error) {
      refused = true;
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      EXPECT_NE(std::string(error.what()).find(std::to_string(budget)), std::string::npos) << error.what();
    }
  }
  EXPECT_TRUE(refused);
}

INSTANTIATE_TEST_SUITE_P(Backends, Triangle, testing::ValuesIn(available_backends()),
                         [](const auto& each) { return std::string(to_string(each.param)); });

Plan chosen_for(const Matrix<float>& points, std::int64_t k) {
  Options options;
  options.backend = Backend::cpu;
  options.threads = 1;
  return search(points.view(), points.view(), k, options).report.plan;
}

// Points of few dimensions get a tree.
constexpr std::int64_t kTooManyForATree = 40;

TEST(TriangleChoice, DataWithStructureGetsIt) {
  Random random(1);
  const auto clustered = [&](auto r, auto) { return static_cast<double>(r % 100) + random.gaussian() * 0.01; };
  const Plan plan = chosen_for(matrix_of<float>(30000, kTooManyForATree, clustered), 10);
  EXPECT_EQ(plan.method, Method::triangle);
  EXPECT_NE(plan.reason.find('%'), std::string::npos) << plan.reason;
  EXPECT_FALSE(plan.alternatives.empty());
}

TEST(TriangleChoice, NoiseStaysWithBruteForce) {
  Random random(1);
  const auto noise = [&](auto, auto) { return random.uniform(); };
  const std::int64_t rows = under_qemu() ? 5000 : 20000;
  for (const std::int64_t dims : {16, 24})
    EXPECT_EQ(chosen_for(matrix_of<float>(rows, dims, noise), 10).method, Method::brute) << dims;
}

TEST(TriangleChoice, AnIndexThatIsAskedOftenGetsClusters) {
  const Sample<float> sample =
      generate<float>(Kind::clustered, {50000, 2000, kTooManyForATree}, MetricKind::euclidean, 5);
  Options options;
  options.backend = Backend::cpu;
  const Index<float> asked_one_by_one(sample.base.view(), options);
  options.method = Method::brute;
  const Neighbors<float> right = search(sample.base.view(), sample.queries.view(), 4, options);
  Method last = Method::automatic;
  for (std::int64_t query = 0; query < 2000; ++query) {
    const Neighbors<float> found = asked_one_by_one.search(sample.queries.view().rows_from(query, 1), 4);
    if (query == 0) {
      EXPECT_EQ(found.report.plan.method, Method::brute);
    }
    ASSERT_TRUE(std::equal(found.ids.begin(), found.ids.end(), right.ids.begin() + 4 * query)) << query;
    last = found.report.plan.method;
  }
  EXPECT_EQ(last, Method::triangle);
}

TEST(TriangleChoice, OneQueryTakesTheClustersOfManyBefore) {
  const Sample<float> sample =
      generate<float>(Kind::clustered, {50000, 20000, kTooManyForATree}, MetricKind::euclidean, 6);
  Options options;
  options.backend = Backend::cpu;
  const Index<float> index(sample.base.view(), options);
  const MatrixView<float> one = sample.queries.view().rows_from(0, 1);
  EXPECT_EQ(index.search(one, 4).report.plan.method, Method::brute);
  EXPECT_EQ(index.search(sample.queries.view(), 4).report.plan.method, Method::triangle);
  EXPECT_EQ(index.search(one, 4).report.plan.method, Method::triangle);
}

TEST(TriangleChoice, AMethodAskedForByNameIsKept) {
  Options options;
  options.backend = Backend::cpu;
  options.method = Method::triangle;
  const Plan plan = explain({100000, 5000, 8, 10, DType::float32}, options);
  EXPECT_EQ(plan.method, Method::triangle);
  EXPECT_GT(plan.triangle.base_landmarks, 1);
  EXPECT_GT(plan.triangle.query_landmarks, 1);
  const std::string text = to_string(plan);
  EXPECT_NE(text.find("triangle"), std::string::npos) << text;
  EXPECT_NE(text.find("clusters"), std::string::npos) << text;
}

}  // namespace
}  // namespace kith::test
