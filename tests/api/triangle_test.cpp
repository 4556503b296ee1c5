// Method triangle (Chen et al. Sweet KNN) gives the oracle's answer for all data, numbers of landmarks and threads; its
// counters add up; it is chosen for data with structure and not for noise.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/pairwise.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

// The one metric without a triangle inequality.
bool is_product(const Metric& metric) {
  return metric.kind == MetricKind::inner_product;
}

class Triangle : public testing::TestWithParam<Backend> {
 protected:
  static bool is_cpu() { return GetParam() == Backend::cpu; }

  static Options options(const Metric& metric = MetricKind::euclidean, std::int64_t landmarks = 0) {
    Options options;
    options.backend = GetParam();
    options.method = Method::triangle;
    options.metric = metric;
    options.triangle.base_landmarks = landmarks;
    options.triangle.query_landmarks = landmarks;
    return options;
  }
};

template <Element T>
testing::AssertionResult finds_the_truth(const Sample<T>& sample, std::int64_t k, const Options& options) {
  const auto got = search(sample.base.view(), sample.queries.view(), k, options);
  if (got.report.plan.method != Method::triangle)
    return testing::AssertionFailure() << "method " << to_string(got.report.plan.method) << " was taken";
  Agreement agreement;
  if (options.metric.kind == MetricKind::minkowski) agreement = {false, 1e-6, 0};
  return matches_truth(got, truth_of(sample, options.metric), k, agreement);
}

template <Element T, class Coordinate>
Matrix<T> matrix_of(std::int64_t rows, std::int64_t dims, Coordinate coordinate) {
  Matrix<T> points(rows, dims);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < dims; ++c) points(r, c) = static_cast<T>(coordinate(r, c));
  return points;
}

constexpr Shape kTriangleShapes[] = {{1, 1, 1},   {2, 3, 2},    {7, 5, 3},     {64, 8, 8},
                                     {65, 9, 17}, {257, 1, 33}, {300, 33, 31}, {700, 60, 4}};
constexpr std::int64_t kTriangleCounts[] = {1, 2, 10, 100, 1 << 20};  // the last becomes all
constexpr std::int64_t kLandmarkCounts[] = {0, 1, 2, 7, 1 << 20};

struct TriangleCase {
  Case problem;
  std::int64_t base_landmarks = 0;
  std::int64_t query_landmarks = 0;
};

std::vector<TriangleCase> covering_cases_of_triangle(bool small) {
  constexpr std::size_t kThreadCounts = 2;
  const std::size_t shapes = std::size(kTriangleShapes) - (small ? 1 : 0);
  std::vector<TriangleCase> cases;
  for (const std::vector<std::size_t>& row :
       pairwise({all_metrics().size(), all_dtypes().size(), all_kinds().size(), shapes, std::size(kTriangleCounts),
                 all_layouts().size(), all_layouts().size(), std::size(kLandmarkCounts), std::size(kLandmarkCounts),
                 kThreadCounts},
                11)) {
    TriangleCase c;
    c.problem.metric = all_metrics()[row[0]];
    c.problem.dtype = all_dtypes()[row[1]];
    c.problem.kind = all_kinds()[row[2]];
    c.problem.shape = kTriangleShapes[row[3]];
    if (c.problem.metric.kind == MetricKind::correlation)
      c.problem.shape.dims = std::max<std::int64_t>(c.problem.shape.dims, 2);
    c.problem.k = std::min(kTriangleCounts[row[4]], c.problem.shape.base_rows);
    c.problem.base_layout = all_layouts()[row[5]];
    c.problem.query_layout = all_layouts()[row[6]];
    c.base_landmarks = kLandmarkCounts[row[7]];
    c.query_landmarks = kLandmarkCounts[row[8]];
    c.problem.threads = static_cast<int>(row[9]) + 1;
    c.problem.method = Method::triangle;
    c.problem.seed = cases.size() + 1;
    cases.push_back(c);
  }
  return cases;
}

template <Element T>
testing::AssertionResult triangle_matches(const TriangleCase& c, Backend backend) {
  const Case& problem = c.problem;
  const Sample<T> sample = generate<T>(problem.kind, problem.shape, problem.metric, problem.seed);
  const Points<T> base(sample.base, problem.base_layout);
  const Points<T> queries(sample.queries, problem.query_layout);
  Options options = problem.options();
  options.backend = backend;
  options.triangle.base_landmarks = c.base_landmarks;
  options.triangle.query_landmarks = c.query_landmarks;
  if (is_product(problem.metric))
    return fails_with(ErrorCode::invalid_argument, {"triangle", "inner_product"},
                      [&] { search(base.view(), queries.view(), problem.k, options); });
  const auto got = search(base.view(), queries.view(), problem.k, options);
  if (got.report.plan.method != Method::triangle) return testing::AssertionFailure() << "another method was taken";
  return matches_truth(got, truth_for(sample, problem), problem.k, agreement_for(problem));
}

TEST_P(Triangle, FindsTheTruthOfTheWholeGenerator) {
  for (const TriangleCase& c : covering_cases_of_triangle(!is_cpu())) {
    const auto result = with_dtype(c.problem.dtype, [&]<Element T>() { return triangle_matches<T>(c, GetParam()); });
    EXPECT_TRUE(result) << c.problem << " landmarks " << c.base_landmarks << " and " << c.query_landmarks;
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
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] { right += matches_truth(index.search(sample.queries.view(), 11), truth, 11) ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 3);
}

TEST_P(Triangle, StatisticsAddUp) {
  const Sample<float> sample = generate<float>(Kind::clustered, {600, 50, 3}, MetricKind::euclidean, 2);
  Options asked = options();
  EXPECT_FALSE(search(sample.base.view(), sample.queries.view(), 5, asked).report.triangle.has_value());
  asked.statistics = true;
  const auto report = search(sample.base.view(), sample.queries.view(), 5, asked).report;
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
  const auto report = search(sample.base.view(), sample.queries.view(), 4, asked).report;
  EXPECT_GT(report.triangle->saved(), 0.9);
}

TEST_P(Triangle, RefusesWhatItCannotDo) {
  const Sample<float> sample = generate<float>(Kind::uniform, {20, 3, 3}, MetricKind::euclidean, 1);
  const auto refused = [&](const Options& asked, const std::vector<std::string>& mentions) {
    return fails_with(ErrorCode::invalid_argument, mentions,
                      [&] { search(sample.base.view(), sample.queries.view(), 2, asked); });
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
  EXPECT_TRUE(
      fails_with(ErrorCode::cancelled, {}, [&] { search(sample.base.view(), sample.queries.view(), 5, asked); }));
}

TEST_P(Triangle, ABudgetIsABudget) {
  if (!is_cpu()) GTEST_SKIP() << "budgets of devices have their own tests";
  const Sample<float> sample = generate<float>(Kind::clustered, {2000, 900, 6}, MetricKind::euclidean, 7);
  const auto wanted = search(sample.base.view(), sample.queries.view(), 6, options());
  bool refused = false;
  for (const std::int64_t budget : {4 << 20, 300 << 10, 250 << 10, 10 << 10}) {
    Options asked = options();
    asked.memory_budget = budget;
    try {
      const auto got = search(sample.base.view(), sample.queries.view(), 6, asked);
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

// Random problems and numbers of landmarks give brute force's ids and distances, bit for bit.
template <Element T>
void check_equals_brute(const Case& c, std::int64_t base_landmarks, std::int64_t query_landmarks) {
  const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
  Options options = c.options();
  options.backend = Backend::cpu;
  options.method = Method::brute;
  const auto wanted = search(sample.base.view(), sample.queries.view(), c.k, options);
  options.method = Method::triangle;
  options.triangle.base_landmarks = base_landmarks;
  options.triangle.query_landmarks = query_landmarks;
  const auto got = search(sample.base.view(), sample.queries.view(), c.k, options);
  const testing::AssertionResult same = same_answer(got, wanted);
  if (same) return;
  RC_LOG() << c << "\nlandmarks " << base_landmarks << " and " << query_landmarks << '\n' << same.message() << '\n';
  RC_FAIL("triangle differs from brute force");
}

RC_GTEST_PROP(TriangleProperty, EqualsBruteForceWhateverTheLandmarks, ()) {
  Case c;
  c.metric = *rc::gen::suchThat(rc::gen::elementOf(all_metrics()), [](const Metric& m) { return !is_product(m); });
  c.dtype = *rc::gen::elementOf(all_dtypes());
  c.kind = *rc::gen::elementOf(all_kinds());
  c.shape.base_rows = *rc::gen::inRange<std::int64_t>(1, 401);
  c.shape.queries = *rc::gen::inRange<std::int64_t>(1, 41);
  c.shape.dims = *rc::gen::inRange<std::int64_t>(c.metric.kind == MetricKind::correlation ? 2 : 1, 41);
  c.k = *rc::gen::inRange<std::int64_t>(1, c.shape.base_rows + 1);
  c.threads = *rc::gen::inRange(1, 3);
  c.seed = *rc::gen::inRange<std::uint64_t>(1, 1000000);
  const std::int64_t base_landmarks = *rc::gen::inRange<std::int64_t>(0, 402);
  const std::int64_t query_landmarks = *rc::gen::inRange<std::int64_t>(0, 42);
  with_dtype(c.dtype, [&]<Element T>() { check_equals_brute<T>(c, base_landmarks, query_landmarks); });
}

Plan chosen_for(const Matrix<float>& points, std::int64_t k) {
  Options options;
  options.backend = Backend::cpu;
  options.threads = 1;
  return search(points.view(), points.view(), k, options).report.plan;
}

TEST(TriangleChoice, DataWithStructureGetsIt) {
  Random random(1);
  const auto clustered = [&](auto r, auto) { return static_cast<double>(r % 100) + random.gaussian() * 0.01; };
  const Plan plan = chosen_for(matrix_of<float>(30000, 4, clustered), 10);
  EXPECT_EQ(plan.method, Method::triangle);
  EXPECT_NE(plan.reason.find('%'), std::string::npos) << plan.reason;
  EXPECT_FALSE(plan.alternatives.empty());
}

TEST(TriangleChoice, NoiseStaysWithBruteForce) {
  Random random(1);
  const auto noise = [&](auto, auto) { return random.uniform(); };
  for (const std::int64_t dims : {8, 16})
    EXPECT_EQ(chosen_for(matrix_of<float>(20000, dims, noise), 10).method, Method::brute) << dims;
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
