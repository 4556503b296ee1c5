// search_radius(): all points within a distance, against the oracle's matrix of distances.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/key.hpp"
#include "kith/index.hpp"
#include "support/budget.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/on_backend.hpp"
#include "support/oracle.hpp"

namespace kith::test {
namespace {

bool within(double distance, double radius, bool largest_first) {
  return largest_first ? distance >= radius : distance <= radius;
}

// Exactly the oracle's, in its order. Radii are distances of the oracle, so that some points lie on them.
template <Element T>
void expect_oracle(const Case& c, bool one_radius) {
  using D = DistanceOf<T>;
  if (!agreement_for(c).bitwise) return;
  const Options options = c.options();
  const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
  const Points<T> base(sample.base, c.base_layout);
  const Points<T> queries(sample.queries, c.query_layout);
  const Truth<D> truth = truth_for(sample, c);
  std::vector<D> radii;
  for (std::int64_t q = 0; q < (one_radius ? 1 : c.shape.queries); ++q)
    radii.push_back(truth.distance(q, truth.nearest(q, 1 + (q * 7) % c.shape.base_rows).back()));
  const auto got = search_radius<T>(base.view(), queries.view(), radii, RadiusOutput::neighbors, options);
  const auto counted = search_radius<T>(base.view(), queries.view(), radii, RadiusOutput::count_only, options);
  EXPECT_EQ(got.report.plan.backend, c.backend);
  ASSERT_EQ(counted.offsets, got.offsets) << c;
  EXPECT_TRUE(counted.ids.empty() && counted.distances.empty());
  ASSERT_EQ(got.offsets.size(), static_cast<std::size_t>(c.shape.queries) + 1);
  for (std::int64_t q = 0; q < c.shape.queries; ++q) {
    const D radius = radii[one_radius ? 0 : static_cast<std::size_t>(q)];
    std::vector<std::int64_t> want;
    for (const std::int64_t id : truth.nearest(q, c.shape.base_rows))
      if (within(truth.distance(q, id), radius, truth.largest_first)) want.push_back(id);
    ASSERT_EQ(std::vector<std::int64_t>(got.ids_of(q).begin(), got.ids_of(q).end()), want) << c << ", query " << q;
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(got.distances_of(q)[i], truth.distance(q, want[i])) << c;
  }
}

void expect_oracle(const std::vector<Case>& cases) {
  for (const Case& c : cases) with_dtype(c.dtype, [&]<class T>() { expect_oracle<T>(c, c.seed % 2 == 0); });
}

TEST(Radius, ByTreeEqualsTheOracle) {
  std::vector<Case> cases = every_metric_type_and_kind({{300, 9, 2}, {500, 9, 3}, {700, 5, 1}, {200, 9, 11}});
  std::erase_if(cases, [](const Case& c) { return !core::has_box_bounds(c.metric); });
  for (Case& c : cases) c.method = Method::tree;
  expect_oracle(cases);
}

TEST(Radius, ByTreeIsThatOfBruteForce) {
  for (const Kind kind : {Kind::uniform, Kind::duplicates, Kind::ties, Kind::all_equal}) {
    const Sample<float> sample = generate<float>(kind, {6000, 500, 3}, MetricKind::euclidean, 4);
    Options brute = options_for(MetricKind::euclidean);
    brute.method = Method::brute;
    Options tree = brute;
    tree.method = Method::tree;
    const Index<float> right(sample.base.view(), brute);
    const Index<float> index(sample.base.view(), tree);
    for (const float radius : {0.0F, 0.05F, 0.3F, 100.0F}) {
      const std::vector<float> radii{radius};
      for (const RadiusOutput output : {RadiusOutput::neighbors, RadiusOutput::count_only}) {
        const auto got = index.search_radius(sample.queries.view(), radii, output);
        const auto want = right.search_radius(sample.queries.view(), radii, output);
        EXPECT_EQ(got.report.plan.method, Method::tree);
        EXPECT_EQ(got.offsets, want.offsets) << to_string(kind) << ' ' << radius;
        EXPECT_EQ(got.ids, want.ids);
        EXPECT_EQ(got.distances, want.distances);
        if (radius > 1) continue;
        const auto got_self = index.search_radius_self(radii, output);
        const auto want_self = right.search_radius_self(radii, output);
        EXPECT_EQ(got_self.offsets, want_self.offsets);
        EXPECT_EQ(got_self.ids, want_self.ids);
      }
    }
  }
}

// Whole boxes are counted without a key of any of their points.
TEST(Radius, CountingByTreeNeedsFewKeys) {
  const Sample<float> sample = generate<float>(Kind::uniform, {50000, 10, 3}, MetricKind::euclidean, 4);
  Options tree = options_for(MetricKind::euclidean);
  tree.method = Method::tree;
  const std::vector<float> radii{0.4F};
  const auto counted =
      search_radius<float>(sample.base.view(), sample.queries.view(), radii, RadiusOutput::count_only, tree);
  EXPECT_GT(counted.offsets.back(), 1000);
  EXPECT_LT(counted.report.finalists, counted.offsets.back() / 10);
}

TEST(Radius, EqualsTheOracle) {
  expect_oracle(
      every_metric_type_and_kind({{67, 5, 37}, {9, 19, 8}, {300, 40, 11}},
                                 {DistanceStage::automatic, DistanceStage::direct, DistanceStage::register_tiled}));
}

TEST(Radius, PartsOfTheBaseAreMerged) {
  for (const std::int64_t queries : {1, 3, 700}) {
    Case c;
    c.kind = Kind::ties;
    c.shape = {5000, queries, 16};
    c.threads = 3;
    expect_oracle<float>(c, true);
  }
}

// What every backend promises.
class RadiusOn : public OnBackend {};

// Powers are each device's own: agreement_for() leaves them out, and tests/cuda compares them.
TEST_P(RadiusOn, EqualsTheOracleWhateverTheTypeAndTheLayout) {
  expect_oracle(covering_cases({.shapes = {{67, 5, 37}, {9, 19, 8}, {140, 30, 11}},
                                .stages = {DistanceStage::automatic, DistanceStage::register_tiled},
                                .counts = {1}},
                               GetParam()));
}

template <Element T>
void expect_budgets_change_nothing(Shape shape, DistanceOf<T> radius, const Options& options,
                                   const std::vector<std::int64_t>& budgets) {
  const Sample<T> sample = generate<T>(Kind::gaussian, shape, options.metric, 1);
  const auto within = [&](std::int64_t budget) {
    Options limited = options;
    limited.memory_budget = budget;
    const std::vector<DistanceOf<T>> radii = {radius};
    auto got = search_radius<T>(sample.base.view(), sample.queries.view(), radii, RadiusOutput::neighbors, limited);
    EXPECT_TRUE(budget == 0 || got.report.plan.workspace_bytes <= budget);
    return got;
  };
  const auto want = within(0);
  ASSERT_GT(want.offsets.back(), 0);
  for (const std::int64_t budget : budgets) {
    const auto got = run_within(budget, within);
    EXPECT_EQ(got.offsets, want.offsets) << budget;
    EXPECT_EQ(got.ids, want.ids) << budget;
    EXPECT_EQ(got.distances, want.distances) << budget;
  }
}

TEST_P(RadiusOn, BudgetsChangeNothingOrNameTheLeast) {
  Options one_thread = options(MetricKind::manhattan);
  one_thread.threads = 1;
  expect_budgets_change_nothing<double>({30, 5, 3}, 1.5, one_thread, {1});
  // On a device the least is one query and one point at a time, which is right and takes long.
  expect_budgets_change_nothing<float>(is_cpu() ? Shape{3000, 200, 24} : Shape{600, 140, 24}, 5.5F, options(),
                                       {is_cpu() ? 1 : 1 << 14, 1 << 18, 1 << 20, 1 << 24});
}

TEST_P(RadiusOn, SelfIsLeftOutById) {
  const Sample<float> sample = generate<float>(Kind::duplicates, {200, 1, 6}, MetricKind::euclidean, 1);
  const Index<float> index(sample.base.view(), options());
  const std::vector<float> radius = {0.0F};
  const auto all = index.search_radius(sample.base.view(), radius, RadiusOutput::neighbors);
  const auto others = index.search_radius_self(radius, RadiusOutput::neighbors);
  for (std::int64_t i = 0; i < 200; ++i) {
    std::vector<std::int64_t> want(all.ids_of(i).begin(), all.ids_of(i).end());
    want.erase(std::find(want.begin(), want.end(), i));
    EXPECT_EQ(std::vector<std::int64_t>(others.ids_of(i).begin(), others.ids_of(i).end()), want);
  }
}

TEST_P(RadiusOn, InfinityIsEverything) {
  const Sample<double> sample = generate<double>(Kind::uniform, {100, 7, 3}, MetricKind::manhattan, 1);
  const std::vector<double> radius = {std::numeric_limits<double>::infinity()};
  const auto got = search_radius<double>(sample.base.view(), sample.queries.view(), radius, RadiusOutput::neighbors,
                                         options(MetricKind::manhattan));
  EXPECT_EQ(got.offsets.back(), 700);
}

// Products that double cannot hold are infinite or no numbers; these are within no radius, whoever asks.
TEST_P(RadiusOn, CountsAreThoseOfTheListsWhereProductsOverflow) {
  Sample<double> sample = generate<double>(Kind::gaussian, {80, 9, 6}, MetricKind::inner_product, 1);
  for (Matrix<double>* points : {&sample.base, &sample.queries})
    for (std::int64_t i = 0; i < points->rows() * points->cols(); ++i) points->data()[i] *= 1e154;
  for (const double radius : {-std::numeric_limits<double>::infinity(), -1e308, 0.0, 1e307}) {
    const std::vector<double> radii = {radius};
    const auto listed = search_radius<double>(sample.base.view(), sample.queries.view(), radii, RadiusOutput::neighbors,
                                              options(MetricKind::inner_product));
    const auto counted = search_radius<double>(sample.base.view(), sample.queries.view(), radii,
                                               RadiusOutput::count_only, options(MetricKind::inner_product));
    EXPECT_EQ(counted.offsets, listed.offsets) << radius;
    EXPECT_LT(listed.offsets.back(), 80 * 9) << "no product overflows to both infinities";
  }
}

TEST_P(RadiusOn, RefusesWhatMakesNoSense) {
  const Matrix<float> points(3, 2, {1, 2, 3, 4, 5, 6});
  const auto search_with = [&](std::vector<float> radii, Options options) {
    return [&points, radii = std::move(radii), options] {
      search_radius<float>(points.view(), points.view(), radii, RadiusOutput::neighbors, options);
    };
  };
  Options asked = options();
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"-1", "0 or more"}, search_with({-1}, asked)));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"2 radii", "3 queries"}, search_with({1, 2}, asked)));
  asked.method = Method::triangle;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"triangle"}, search_with({1}, asked)));
  asked.method = Method::automatic;
  asked.distance = DistanceStage::gemm;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"gemm", "register-tiled"}, search_with({1}, asked)));
}

INSTANTIATE_TEST_SUITE_P(Backends, RadiusOn, testing::ValuesIn(available_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });

}  // namespace
}  // namespace kith::test
