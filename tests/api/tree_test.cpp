// Method tree gives the oracle's answer for all data, metrics it takes, numbers of neighbors and threads; points in
// masses, on lines, far away or of any scale change nothing; what it cannot do is refused.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/key.hpp"
#include "kith/index.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/matrix_of.hpp"
#include "support/on_backend.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

constexpr std::int64_t kDims[] = {1, 2, 3, 4, 8, 16};

std::vector<Metric> tree_metrics() {
  std::vector<Metric> metrics = all_metrics();
  std::erase_if(metrics, [](const Metric& metric) { return !core::has_box_bounds(metric); });
  return metrics;
}

Options by_tree(const Metric& metric = MetricKind::euclidean, int threads = 0) {
  Options options;
  options.backend = Backend::cpu;
  options.method = Method::tree;
  options.metric = metric;
  options.threads = threads;
  return options;
}

TEST(Tree, FindsTheTruthOfTheWholeGenerator) {
  Axes axes{.metrics = tree_metrics(), .methods = {Method::tree}, .threads = {1, 2, 5}};
  for (const std::int64_t dims : kDims) axes.shapes.push_back({1200, 37, dims});
  for (const Case& c : covering_cases(axes)) EXPECT_TRUE(search_matches(c)) << c;
}

TEST(Tree, EveryMetricTypeAndKind) {
  for (Case& c : every_metric_type_and_kind({{700, 30, 2}, {700, 30, 3}, {600, 30, 9}})) {
    if (!core::has_box_bounds(c.metric)) continue;
    c.method = Method::tree;
    EXPECT_TRUE(search_matches(c)) << c;
  }
}

// Queries in the order of leaves, from 256 on, and several levels of boxes.
TEST(Tree, ManyQueries) {
  for (const std::int64_t dims : kDims)
    for (const Metric& metric : {Metric(MetricKind::euclidean), Metric(MetricKind::manhattan)}) {
      const Sample<float> sample = generate<float>(Kind::uniform, {9000, 300, dims}, metric, 5);
      const auto truth = truth_of(sample, metric);
      for (const std::int64_t k : {1, 2, 10, 100})
        EXPECT_TRUE(matches_truth(search(sample, k, by_tree(metric, 2)), truth, k));
    }
}

TEST(Tree, AllNeighborsOfAllPoints) {
  const Sample<double> sample = generate<double>(Kind::ties, {700, 9, 3}, MetricKind::euclidean, 4);
  EXPECT_TRUE(finds_the_truth(sample, 700, by_tree()));
  const Sample<float> duplicates = generate<float>(Kind::duplicates, {1500, 9, 2}, MetricKind::chebyshev, 4);
  EXPECT_TRUE(finds_the_truth(duplicates, 1500, by_tree(MetricKind::chebyshev)));
}

TEST(Tree, SearchOfItselfIsThatOfBruteForce) {
  for (const Kind kind : {Kind::uniform, Kind::duplicates, Kind::ties, Kind::all_equal})
    for (const std::int64_t dims : kDims) {
      const Sample<float> sample = generate<float>(kind, {1100, 1, dims}, MetricKind::euclidean, 8);
      Options brute = by_tree();
      brute.method = Method::brute;
      const Index<float> wanted(sample.base.view(), brute);
      const Index<float> got(sample.base.view(), by_tree());
      EXPECT_TRUE(same_answer(got.search_self(12), wanted.search_self(12))) << to_string(kind) << dims;
      EXPECT_TRUE(same_answer(got.search(sample.base.view(), 3), wanted.search(sample.base.view(), 3)));
      EXPECT_EQ(got.graph(5).indices, wanted.graph(5).indices);
    }
}

TEST(Tree, MassesOfCopies) {
  const auto few = [](auto r, auto c) { return (r * 7 % 5 == 0 ? 1 : 0) + c; };
  const auto one = [](auto, auto c) { return static_cast<double>(c) + 0.5; };
  const auto half = [](auto r, auto c) { return r % 2 == 0 ? 0.25 : std::sin(static_cast<double>(r * (c + 1))); };
  Random random(3);
  const auto bytes = [&](auto, auto) { return random.below(3); };
  for (const std::int64_t k : {1, 30, 2000}) {
    EXPECT_TRUE(
        finds_the_truth(Sample<float>{matrix_of<float>(20000, 2, few), matrix_of<float>(3, 2, few)}, k, by_tree()));
    EXPECT_TRUE(
        finds_the_truth(Sample<float>{matrix_of<float>(20000, 2, few), matrix_of<float>(3, 2, one)}, k, by_tree()));
    EXPECT_TRUE(
        finds_the_truth(Sample<double>{matrix_of<double>(9000, 3, one), matrix_of<double>(3, 3, few)}, k, by_tree()));
    EXPECT_TRUE(
        finds_the_truth(Sample<float>{matrix_of<float>(20000, 2, half), matrix_of<float>(9, 2, half)}, k, by_tree()));
    EXPECT_TRUE(finds_the_truth(
        Sample<std::uint8_t>{matrix_of<std::uint8_t>(20000, 3, bytes), matrix_of<std::uint8_t>(40, 3, bytes)}, k,
        by_tree()));
  }
}

// Copies are few distances, not as many as there are copies.
TEST(Tree, MassesOfCopiesCostLittle) {
  const Sample<float> sample{matrix_of<float>(100000, 3, [](auto r, auto c) { return r % 4 == 0 ? r * (c + 1) : 7; }),
                             matrix_of<float>(4, 3, [](auto r, auto) { return r * 7; })};
  const auto found = search(sample, 10, by_tree());
  EXPECT_TRUE(matches_truth(found, truth_of(sample, Metric(MetricKind::euclidean)), 10));
  EXPECT_LT(found.report.finalists, 4 * 2000);
}

TEST(Tree, PointsOnALineAndOneFarAway) {
  for (const std::int64_t dims : kDims) {
    const Sample<float> line{matrix_of<float>(2500, dims, [](auto r, auto c) { return r * (1 + c); }),
                             matrix_of<float>(30, dims, [](auto r, auto c) { return 17 * r * (1 + c) + 1; })};
    EXPECT_TRUE(finds_the_truth(line, 9, by_tree()));
    for (const float far : {1e30F, -1e30F, 3e38F}) {
      Random random(4);
      const auto value = [&](auto r, auto) { return r == 77 ? static_cast<double>(far) : random.uniform(); };
      const Sample<float> outlier{matrix_of<float>(2500, dims, value), matrix_of<float>(90, dims, value)};
      for (const Metric& metric : {Metric(MetricKind::sqeuclidean), Metric(MetricKind::manhattan)})
        EXPECT_TRUE(finds_the_truth(outlier, 9, by_tree(metric))) << dims << ' ' << far;
    }
  }
}

TEST(Tree, OffsetsAndScalesWhereRoundingBites) {
  for (const Metric& metric : tree_metrics()) {
    for (const double scale : {1.0, 1e-40, 1e-30, 1e30, 1e-20, 1e18}) {
      for (const double offset : {0.0, 1e6}) {
        Random random(9);
        const auto value = [&](auto, auto) { return (offset + random.uniform()) * scale; };
        const Sample<float> sample{matrix_of<float>(450, 4, value), matrix_of<float>(12, 4, value)};
        Case c;  // whose agreement is that of the metric
        c.metric = metric;
        EXPECT_TRUE(matches_truth(search(sample, 8, by_tree(metric)), truth_of(sample, metric), 8, agreement_for(c)))
            << kith::to_string(metric) << " scale " << scale << " offset " << offset;
      }
    }
  }
}

// Values with distances that no working precision tells apart: all of them tie by key, and ids decide.
TEST(Tree, QueriesSoFarAwayThatAllPointsTie) {
  Random random(6);
  const auto value = [&](auto, auto) { return random.uniform(); };
  const Sample<float> sample{matrix_of<float>(3000, 2, value), matrix_of<float>(5, 2, [](auto, auto) { return 1e12; })};
  for (const std::int64_t k : {1, 10, 600}) EXPECT_TRUE(finds_the_truth(sample, k, by_tree()));
}

// Squares that float cannot hold are infinite and tie: the smallest ids are the neighbors, and no more are looked at.
TEST(Tree, DistancesThatOverflowTie) {
  Random random(6);
  const auto value = [&](auto r, auto) { return (r % 100 == 0 ? 1e-12 : 1.0) * random.uniform() * 1e30; };
  const Sample<float> sample{matrix_of<float>(5000, 3, value), matrix_of<float>(300, 3, value)};
  for (const MetricKind kind : {MetricKind::sqeuclidean, MetricKind::euclidean})
    for (const std::int64_t k : {1, 10, 100}) {
      const auto found = search(sample, k, by_tree(kind));
      EXPECT_TRUE(matches_truth(found, truth_of(sample, Metric(kind)), k));
      EXPECT_LT(found.report.finalists, 300 * (2 * k + 200));
    }
}

TEST(Tree, NumbersThatAreNone) {
  Options unchecked = by_tree();
  unchecked.check_finite = false;
  const float bad[] = {std::nanf(""), INFINITY, -INFINITY};
  Random random(6);
  const auto value = [&](auto r, auto) {
    return r % 3 == 0 ? bad[random.below(3)] : static_cast<float>(random.uniform());
  };
  for (const std::int64_t dims : kDims) {
    const Matrix<float> points = matrix_of<float>(500, dims, value);
    for (const std::int64_t k : {1, 10, 500}) {
      const auto found = kith::search(points.view(), points.view(), k, unchecked);
      for (const std::int64_t id : found.ids) ASSERT_TRUE(id >= 0 && id < 500);
    }
  }
}

TEST(Tree, AnIndexServesManyThreads) {
  const Sample<float> sample = generate<float>(Kind::clustered, {5000, 300, 3}, MetricKind::euclidean, 4);
  const auto truth = truth_of(sample, Metric(MetricKind::euclidean));
  const Index<float> index(sample.base.view(), by_tree());
  expect_at_once(3, [&](std::size_t) { return matches_truth(index.search(sample.queries.view(), 11), truth, 11); });
  const auto one = [&](std::size_t i) {
    const auto found = index.search(sample.queries.view().rows_from(static_cast<std::int64_t>(i), 1), 11);
    return found.ids == truth.nearest(static_cast<std::int64_t>(i), 11) ? testing::AssertionSuccess()
                                                                        : testing::AssertionFailure();
  };
  expect_at_once(8, one);
}

TEST(Tree, RefusesWhatItCannotDo) {
  const Sample<float> sample = generate<float>(Kind::uniform, {20, 3, 3}, MetricKind::euclidean, 1);
  const auto refused = [&](const Options& asked, const std::vector<std::string>& mentions) {
    return fails_with(ErrorCode::invalid_argument, mentions, [&] { search(sample, 2, asked); });
  };
  for (const MetricKind kind : {MetricKind::inner_product, MetricKind::cosine, MetricKind::correlation,
                                MetricKind::hamming, MetricKind::canberra})
    EXPECT_TRUE(refused(by_tree(kind), {"tree", kith::to_string(Metric(kind))}));
  Options asked = by_tree();
  asked.distance = DistanceStage::direct;
  EXPECT_TRUE(refused(asked, {"tree", "direct"}));
}

TEST(Tree, IsOfEveryBackend) {
  for (const Backend backend : {Backend::cpu, Backend::cuda, Backend::emulated}) {
    const std::vector<Method> methods = search_methods(backend);
    EXPECT_EQ(std::count(methods.begin(), methods.end(), Method::tree), 1);
  }
}

// Lists, of other points and of the base's own; radii, listed and counted.
template <Element T>
void expect_same_on_device(const Sample<T>& sample, const Metric& metric, Backend backend) {
  using D = DistanceOf<T>;
  Options there = by_tree(metric);
  there.backend = backend;
  const Index<T> index(sample.base.view(), there);
  const Index<T> right(sample.base.view(), by_tree(metric));
  for (const std::int64_t k : {1, 10, 40}) {
    EXPECT_TRUE(same_answer(index.search(sample.queries.view(), k), right.search(sample.queries.view(), k)));
    EXPECT_TRUE(same_answer(index.search_self(k), right.search_self(k)));
  }
  const D nearest = right.search_self(10).distances[9];
  for (const D radius : {D{0}, nearest, 3 * nearest})
    for (const RadiusOutput output : {RadiusOutput::neighbors, RadiusOutput::count_only}) {
      const std::vector<D> radii{radius};
      const auto got = index.search_radius(sample.queries.view(), radii, output);
      const auto wanted = right.search_radius(sample.queries.view(), radii, output);
      EXPECT_EQ(got.report.plan.method, Method::tree);
      EXPECT_EQ(got.offsets, wanted.offsets);
      EXPECT_EQ(got.ids, wanted.ids);
      EXPECT_EQ(got.distances, wanted.distances);
      EXPECT_EQ(index.search_radius_self(radii, output).offsets, right.search_radius_self(radii, output).offsets);
      EXPECT_EQ(index.search_radius_self(radii, output).ids, right.search_radius_self(radii, output).ids);
    }
}

TEST(Tree, DevicesGiveTheSameAnswer) {
  for (const Backend backend : device_backends())
    for (const Kind kind : {Kind::uniform, Kind::clustered, Kind::duplicates, Kind::ties})
      for (const std::int64_t dims : {1, 2, 3, 19}) {
        SCOPED_TRACE(to_string(kind));
        const Metric metric = dims == 2 ? MetricKind::manhattan : MetricKind::euclidean;
        expect_same_on_device(generate<float>(kind, {400, 7, dims}, metric, 3), metric, backend);
        expect_same_on_device(generate<double>(kind, {150, 4, dims}, metric, 4), metric, backend);
        expect_same_on_device(generate<std::uint8_t>(kind, {150, 4, dims}, metric, 5), metric, backend);
      }
}

TEST(Tree, CanBeCancelled) {
  const Sample<float> sample = generate<float>(Kind::clustered, {600, 2000, 3}, MetricKind::euclidean, 2);
  Options asked = by_tree();
  asked.progress = [](const Progress& progress) { return progress.fraction() < 0.1; };
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, [&] { search(sample, 5, asked); }));
}

TEST(Tree, ABudgetIsABudget) {
  const Sample<float> sample = generate<float>(Kind::clustered, {2000, 900, 6}, MetricKind::euclidean, 7);
  const auto wanted = search(sample, 6, by_tree());
  bool refused = false;
  for (const std::int64_t budget : {4 << 20, 300 << 10, 250 << 10, 10 << 10}) {
    Options asked = by_tree();
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

// Each other's neighbors within a radius, in as many parts as budgets make of them, or an error that names the budget.
TEST(Tree, BudgetsOfRadiusSearches) {
  const Matrix<float> points = generate<float>(Kind::uniform, {1500, 1, 2}, MetricKind::euclidean, 9).base;
  const std::vector<float> radii{0.06F};
  for (const Backend backend : available_backends()) {
    Options asked = by_tree();
    asked.backend = backend;
    const auto wanted = Index<float>(points.view(), asked).search_radius_self(radii);
    bool refused = false;
    bool done = false;
    for (const std::int64_t budget : {8 << 20, 5 << 19, 9 << 17, 17 << 16, 10 << 10}) {
      asked.memory_budget = budget;
      try {
        const auto got = Index<float>(points.view(), asked).search_radius_self(radii);
        EXPECT_EQ(got.ids, wanted.ids) << budget;
        EXPECT_EQ(got.offsets, wanted.offsets) << budget;
        done = true;
      } catch (const Error& error) {
        refused = true;
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
        EXPECT_NE(std::string(error.what()).find(std::to_string(budget)), std::string::npos) << error.what();
      }
    }
    EXPECT_TRUE(refused && done);
  }
}

TEST(TreeChoice, FewDimensionsGetIt) {
  Random random(1);
  const auto noise = [&](auto, auto) { return random.uniform(); };
  // Sixteen dimensions of which the points fill two.
  std::vector<double> turned(2);
  const auto flat = [&](auto, auto c) {
    if (c < 2) turned[static_cast<std::size_t>(c)] = random.uniform();
    return turned[0] * static_cast<double>(c % 5) + turned[1] * static_cast<double>(c % 3) +
           static_cast<double>(c < 2) * turned[static_cast<std::size_t>(c % 2)];
  };
  Options options;
  options.backend = Backend::cpu;
  const auto chosen = [&](const Matrix<float>& points) {
    return kith::search(points.view(), points.view(), 10, options).report.plan.method;
  };
  for (const std::int64_t dims : {1, 3}) EXPECT_EQ(chosen(matrix_of<float>(20000, dims, noise)), Method::tree) << dims;
  EXPECT_EQ(chosen(matrix_of<float>(20000, 16, noise)), Method::brute);
  EXPECT_EQ(chosen(matrix_of<float>(20000, 16, flat)), Method::tree);
}

TEST(TreeChoice, AnIndexThatIsAskedOftenGetsIt) {
  const Sample<float> sample = generate<float>(Kind::clustered, {50000, 2000, 3}, MetricKind::euclidean, 5);
  Options options;
  options.backend = Backend::cpu;
  const Index<float> index(sample.base.view(), options);
  options.method = Method::brute;
  const Neighbors<float> right = kith::search(sample.base.view(), sample.queries.view(), 4, options);
  Method last = Method::automatic;
  for (std::int64_t query = 0; query < 2000; ++query) {
    const Neighbors<float> found = index.search(sample.queries.view().rows_from(query, 1), 4);
    if (query == 0) {
      EXPECT_EQ(found.report.plan.method, Method::brute);
    }
    ASSERT_TRUE(std::equal(found.ids.begin(), found.ids.end(), right.ids.begin() + 4 * query)) << query;
    last = found.report.plan.method;
  }
  EXPECT_EQ(last, Method::tree);
}

// Lattices, masses and lines in any mix.
RC_GTEST_PROP(TreeProperties, TreeIsBruteForce, ()) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const auto dims = *rc::gen::inRange<std::int64_t>(1, 9);
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 3000);
  const auto k = *rc::gen::inRange<std::int64_t>(1, std::min<std::int64_t>(rows, 80) + 1);
  const auto steps = *rc::gen::element<std::int64_t>(1, 2, 5, 50, 1000000);
  const auto offset = *rc::gen::element(0.0, 1.0, 1e5, 1e7);
  const auto threads = *rc::gen::inRange(1, 4);
  const auto metric =
      *rc::gen::element(Metric(MetricKind::euclidean), Metric(MetricKind::sqeuclidean), Metric(MetricKind::manhattan),
                        Metric(MetricKind::chebyshev), Metric::minkowski(3));
  const auto value = [&](auto, auto c) {
    return offset + (c > 1 ? 1.0 : static_cast<double>(random.below(steps))) / 3;
  };
  const Sample<float> sample{matrix_of<float>(rows, dims, value), matrix_of<float>(20, dims, value)};
  Options brute = by_tree(metric, threads);
  brute.method = Method::brute;
  const auto got = search(sample, k, by_tree(metric, threads));
  const auto want = search(sample, k, brute);
  RC_ASSERT(got.ids == want.ids);
  RC_ASSERT(got.distances == want.distances);
}

}  // namespace
}  // namespace kith::test
