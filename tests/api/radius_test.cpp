// search_radius(): all points within a distance, against the oracle's matrix of distances.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

bool within(double distance, double radius, bool largest_first) {
  return largest_first ? distance >= radius : distance <= radius;
}

// Exactly the oracle's, in its order. Radii are distances of the oracle, so that some points lie on them.
template <Element T>
void expect_oracle(const Case& c, bool one_radius, Backend backend) {
  using D = DistanceOf<T>;
  if (!agreement_for(c).bitwise) return;
  Options options = c.options();
  options.backend = backend;
  const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
  const Points<T> base(sample.base, c.base_layout);
  const Points<T> queries(sample.queries, c.query_layout);
  const Truth<D> truth = truth_for(sample, c);
  std::vector<D> radii;
  for (std::int64_t q = 0; q < (one_radius ? 1 : c.shape.queries); ++q)
    radii.push_back(truth.distance(q, truth.nearest(q, 1 + (q * 7) % c.shape.base_rows).back()));
  const auto got = search_radius<T>(base.view(), queries.view(), radii, RadiusOutput::neighbors, options);
  const auto counted = search_radius<T>(base.view(), queries.view(), radii, RadiusOutput::count_only, options);
  EXPECT_EQ(got.report.plan.backend, backend);
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

TEST(Radius, EqualsTheOracle) {
  std::size_t turn = 0;
  for (const Metric& metric : all_metrics()) {
    for (const DType dtype : all_dtypes()) {
      for (const Kind kind : all_kinds()) {
        Case c;
        c.kind = kind;
        c.dtype = dtype;
        c.metric = metric;
        c.shape = turn % 3 == 0 ? Shape{67, 5, 37} : turn % 3 == 1 ? Shape{9, 19, 8} : Shape{300, 40, 11};
        c.base_layout = all_layouts()[turn % 4];
        c.query_layout = all_layouts()[(turn / 4) % 4];
        constexpr DistanceStage kStages[] = {DistanceStage::automatic, DistanceStage::direct,
                                             DistanceStage::register_tiled};
        c.distance = kStages[turn % 3];
        c.threads = 1 + static_cast<int>(turn % 3);
        c.seed = ++turn;
        with_dtype(dtype, [&]<class T>() { expect_oracle<T>(c, turn % 2 == 0, Backend::cpu); });
      }
    }
  }
}

TEST(Radius, PartsOfTheBaseAreMerged) {
  for (const std::int64_t queries : {1, 3, 700}) {
    Case c;
    c.kind = Kind::ties;
    c.shape = {5000, queries, 16};
    c.threads = 3;
    expect_oracle<float>(c, true, Backend::cpu);
  }
}

// What every backend promises.
class RadiusOn : public testing::TestWithParam<Backend> {
 protected:
  static Options options(const Metric& metric = MetricKind::euclidean) {
    Options options;
    options.backend = GetParam();
    options.metric = metric;
    return options;
  }
};

// Powers are each device's own: agreement_for() leaves them out, and tests/cuda compares them.
TEST_P(RadiusOn, EqualsTheOracleWhateverTheTypeAndTheLayout) {
  std::size_t turn = 0;
  for (const Metric& metric : all_metrics()) {
    for (const DType dtype : all_dtypes()) {
      Case c;
      c.kind = all_kinds()[turn % all_kinds().size()];
      c.dtype = dtype;
      c.metric = metric;
      c.shape = turn % 3 == 0 ? Shape{67, 5, 37} : turn % 3 == 1 ? Shape{9, 19, 8} : Shape{140, 30, 11};
      c.base_layout = all_layouts()[turn % 4];
      c.query_layout = all_layouts()[(turn / 4) % 4];
      c.distance = turn % 2 == 0 ? DistanceStage::automatic : DistanceStage::register_tiled;
      c.seed = ++turn;
      with_dtype(dtype, [&]<class T>() { expect_oracle<T>(c, turn % 2 == 0, GetParam()); });
    }
  }
}

TEST_P(RadiusOn, BudgetsChangeNothingOrNameTheLeast) {
  const Shape shape = GetParam() == Backend::cpu ? Shape{3000, 200, 24} : Shape{600, 140, 24};
  const Sample<float> sample = generate<float>(Kind::gaussian, shape, MetricKind::euclidean, 1);
  const std::vector<float> radius = {5.5F};
  Options within = options();
  const auto want =
      search_radius<float>(sample.base.view(), sample.queries.view(), radius, RadiusOutput::neighbors, within);
  ASSERT_GT(want.offsets.back(), 0);
  std::int64_t least = 0;
  within.memory_budget = 1;
  try {
    search_radius<float>(sample.base.view(), sample.queries.view(), radius, RadiusOutput::neighbors, within);
    FAIL() << "one byte was enough";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    const std::string text = error.what();
    least = std::stoll(text.substr(text.rfind("least ") + 6));
  }
  // On a device the least is one query and one point at a time, which is right and takes long.
  if (GetParam() != Backend::cpu) least = std::int64_t{1} << 14;
  for (const std::int64_t budget : {least, std::int64_t{1} << 18, std::int64_t{1} << 20, std::int64_t{1} << 24}) {
    if (budget < least) continue;
    within.memory_budget = budget;
    const auto got =
        search_radius<float>(sample.base.view(), sample.queries.view(), radius, RadiusOutput::neighbors, within);
    EXPECT_LE(got.report.plan.workspace_bytes, budget);
    EXPECT_EQ(got.offsets, want.offsets);
    EXPECT_EQ(got.ids, want.ids);
    EXPECT_EQ(got.distances, want.distances);
  }
}

TEST_P(RadiusOn, TheLeastBudgetIsEnough) {
  const Sample<double> sample = generate<double>(Kind::gaussian, {30, 5, 3}, MetricKind::manhattan, 1);
  const std::vector<double> radius = {1.5};
  Options within = options(MetricKind::manhattan);
  within.threads = 1;
  const auto want =
      search_radius<double>(sample.base.view(), sample.queries.view(), radius, RadiusOutput::neighbors, within);
  within.memory_budget = 1;
  try {
    search_radius<double>(sample.base.view(), sample.queries.view(), radius, RadiusOutput::neighbors, within);
    FAIL() << "one byte was enough";
  } catch (const Error& error) {
    const std::string text = error.what();
    within.memory_budget = std::stoll(text.substr(text.rfind("least ") + 6));
  }
  const auto got =
      search_radius<double>(sample.base.view(), sample.queries.view(), radius, RadiusOutput::neighbors, within);
  EXPECT_EQ(got.offsets, want.offsets);
  EXPECT_EQ(got.ids, want.ids);
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

TEST_P(RadiusOn, RefusesWhatMakesNoSense) {
  const Matrix<float> points(3, 2, {1, 2, 3, 4, 5, 6});
  const auto search_with = [&](std::vector<float> radii, Options options) {
    return [&points, radii = std::move(radii), options] {
      search_radius<float>(points.view(), points.view(), radii, RadiusOutput::neighbors, options);
    };
  };
  Options asked = options();
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"-1", "0 or more"}, search_with({-1}, asked)));
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"nan"}, search_with({std::numeric_limits<float>::quiet_NaN()}, asked)));
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
