// Named metrics beside their definitions: all types, all dimensions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "definitions.hpp"
#include "kith/custom_metric.hpp"
#include "kith/named_metric.hpp"
#include "points.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

struct Case {
  std::string name;
  MetricParameters parameters;
  double low = -1;
  double high = 1;
  double zeros = 0.3;
};

std::vector<double> numbers(std::int64_t count, std::uint64_t seed, double low, double high) {
  Random random(seed);
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(low + (high - low) * random.uniform());
  return values;
}

// AᵀA + 1, so that every form is positive.
std::vector<double> definite(std::int64_t dims) {
  const auto n = static_cast<std::size_t>(dims);
  const std::vector<double> a = numbers(dims * dims, 3, -1, 1);
  std::vector<double> made(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) made[i * n + j] += a[k * n + i] * a[k * n + j];
      if (i == j) made[i * n + j] += 1;
    }
  return made;
}

std::vector<Case> cases(std::int64_t dims) {
  std::vector<Case> all = {{"braycurtis", {}, 0.1, 2, 0},      {"dice", {}, -1, 1, 0.3},
                           {"jaccard", {}, -1, 1, 0.5},        {"russellrao", {}, -1, 1, 0.5},
                           {"jensenshannon", {}, 0.1, 3, 0.0}, {"nan_euclidean", {}, -2, 2, 0}};
  if (dims == 2) all.push_back({"haversine", {}, -1.5, 1.5, 0});
  Case each{"mahalanobis", {}, -1, 1, 0};
  each.parameters.inverse = definite(dims);
  all.push_back(each);
  each = {"seuclidean", {}, -1, 1, 0};
  each.parameters.variances = numbers(dims, 5, 0.1, 2);
  all.push_back(each);
  for (const ZeroVectors policy : {ZeroVectors::one, ZeroVectors::zero}) {
    each = {"cosine", {}, -1, 1, 0.2};
    each.parameters.zero_vectors = policy;
    all.push_back(each);
  }
  for (const double p : {1.0, 1.5, 2.0, 3.0, std::numeric_limits<double>::infinity()}) {
    each = {"minkowski", {}, -1, 1, 0};
    each.parameters.p = p;
    each.parameters.weights = numbers(dims, 6, 0, 2);
    each.parameters.weights[0] = 1;
    all.push_back(each);
  }
  return all;
}

// Sums whose terms cancel have absolute errors: 1 − ⟨x,y⟩/…, and the logarithms under the root of Jensen and Shannon.
template <class D>
void expect_near(D found, double wanted, const std::string& what) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(found)) << what;
    return;
  }
  double tolerance = (std::is_same_v<D, double> ? 1e-12 : 1e-7) * std::abs(wanted);
  if (what.starts_with("cosine")) tolerance += 1e-15;
  if (what.starts_with("jensenshannon")) tolerance += 1e-15 / std::max(wanted, 1e-8);
  EXPECT_NEAR(static_cast<double>(found), wanted, tolerance) << what;
}

template <class T>
class NamedMetrics : public testing::Test {};
using Types = testing::Types<float, double, std::uint8_t, std::int8_t, Float16, BFloat16>;
TYPED_TEST_SUITE(NamedMetrics, Types);

TYPED_TEST(NamedMetrics, FollowTheirDefinitions) {
  using T = TypeParam;
  for (std::int64_t dims = 1; dims <= 40; dims += dims < 10 ? 1 : 5) {
    for (const Case& each : cases(dims)) {
      if (each.low < 0 && each.name == "dice" && dims == 1) continue;  // nearly all pairs are NaN
      const Matrix<T> base =
          random_points<T>(37, dims, 11 + static_cast<std::uint64_t>(dims), each.low, each.high, each.zeros);
      const Matrix<T> queries = random_points<T>(7, dims, 12, each.low, each.high, each.zeros);
      const auto metric = named_metric(each.name, each.parameters);
      const auto found = distances_by(metric, base.view(), queries.view());
      for (std::int64_t q = 0; q < queries.rows(); ++q)
        for (std::int64_t r = 0; r < base.rows(); ++r)
          expect_near(found(q, r), defined(each.name, each.parameters, row_of(queries, q), row_of(base, r)),
                      each.name + " of " + std::to_string(dims) + " dimensions");
      const auto nearest = search_by(metric, base.view(), queries.view(), 5);
      for (std::int64_t q = 0; q < queries.rows(); ++q) {
        const auto order = ordered(found.row(q), base.rows());
        for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(nearest.ids_of(q)[i], order[i]) << each.name;
      }
    }
  }
}

TEST(NamedMetrics, HaveTheValuesOfSciPy) {
  // scipy.spatial.distance 1.17 of [1, 0, 2, 0.5] and [0, 0, 1.5, 3], as booleans for the first three.
  const Matrix<double> x(1, 4, {1, 0, 2, 0.5});
  const Matrix<double> y(1, 4, {0, 0, 1.5, 3});
  const auto of = [&](const std::string& name, MetricParameters parameters = {}) {
    return distances_by(named_metric(name, std::move(parameters)), y.view(), x.view())(0, 0);
  };
  EXPECT_DOUBLE_EQ(of("jaccard"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(of("dice"), 0.2);
  EXPECT_DOUBLE_EQ(of("russellrao"), 0.5);
  EXPECT_DOUBLE_EQ(of("braycurtis"), 0.5);
  EXPECT_DOUBLE_EQ(of("BrayCurtis"), 0.5);
}

TEST(NamedMetrics, KeepEmptyPairsAsTheirSourcesDo) {
  const Matrix<double> zeros(1, 3, {0, 0, 0});
  const auto of = [&](const std::string& name) {
    return distances_by(named_metric(name), zeros.view(), zeros.view())(0, 0);
  };
  EXPECT_EQ(of("jaccard"), 0);
  EXPECT_TRUE(std::isnan(of("dice")));
  EXPECT_TRUE(std::isnan(of("braycurtis")));
  EXPECT_EQ(of("russellrao"), 1);
}

TEST(NamedMetrics, TakeMissingCoordinatesWhereTheyMean) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Matrix<double> base(3, 3, {1, nan, 3, nan, nan, nan, 4, 5, 6});
  const Matrix<double> query(1, 3, {nan, 2, 5});
  const auto metric = named_metric("nan_euclidean");
  const auto found = search_by(metric, base.view(), query.view(), 3);
  EXPECT_EQ(found.ids, (std::vector<std::int64_t>{0, 2, 1}));
  EXPECT_DOUBLE_EQ(found.distances[0], std::sqrt(3.0 * 4));
  EXPECT_DOUBLE_EQ(found.distances[1], std::sqrt(1.5 * 10));
  EXPECT_TRUE(std::isnan(found.distances[2]));
  const Matrix<double> infinite(1, 3, {1, 2, std::numeric_limits<double>::infinity()});
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"queries row 0, column 2 is inf", "finite or NaN"},
                         [&] { search_by(metric, base.view(), infinite.view(), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"base row 0, column 1 is nan"},
                         [&] { search_by(named_metric("braycurtis"), base.view(), query.view(), 1); }));
}

TEST(NamedMetrics, GiveZeroVectorsWhatTheyAreTold) {
  const Matrix<float> base(3, 2, {0, 0, 1, 0, 0, 2});
  const Matrix<float> queries(2, 2, {0, 0, 3, 0});
  const auto of = [&](std::optional<ZeroVectors> policy) {
    MetricParameters parameters;
    parameters.zero_vectors = policy;
    const Matrix<float> found = distances_by(named_metric("cosine", parameters), base.view(), queries.view());
    return std::vector<float>(found.data(), found.data() + 6);
  };
  EXPECT_EQ(of(ZeroVectors::one), (std::vector<float>{1, 1, 1, 1, 0, 1}));
  EXPECT_EQ(of(ZeroVectors::zero), (std::vector<float>{0, 0, 0, 0, 0, 1}));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"row 0 has length zero"}, [&] { of(std::nullopt); }));
  EXPECT_EQ(parse_zero_vectors("One"), ZeroVectors::one);
  EXPECT_STREQ(to_string(ZeroVectors::error), "error");
}

TEST(NamedMetrics, RefuseWhatTheyCannotUse) {
  const Matrix<double> points(2, 3, {1, 2, 3, 4, 5, 6});
  const auto refuses = [&](const std::string& name, const MetricParameters& parameters,
                           const std::vector<std::string>& mentions) {
    return fails_with(ErrorCode::invalid_argument, mentions,
                      [&] { search_by(named_metric(name, parameters), points.view(), points.view(), 1); });
  };
  MetricParameters parameters;
  EXPECT_TRUE(refuses("bray", {}, {"unknown metric 'bray'", "braycurtis", "seuclidean"}));
  EXPECT_TRUE(refuses("haversine", {}, {"2 dimensions", "3"}));
  EXPECT_TRUE(refuses("seuclidean", {}, {"variance"}));
  EXPECT_TRUE(refuses("mahalanobis", {}, {"inverse"}));
  EXPECT_TRUE(refuses("minkowski", {}, {"weight"}));
  parameters.variances = {1, 2};
  EXPECT_TRUE(refuses("seuclidean", parameters, {"2 variances", "3 dimensions"}));
  EXPECT_TRUE(refuses("braycurtis", parameters, {"braycurtis takes no variances (V)"}));
  parameters.variances = {1, 0, 2};
  EXPECT_TRUE(refuses("seuclidean", parameters, {"variance 1 is 0", "above 0"}));
  parameters = {};
  parameters.inverse = {1, 2, 3};
  EXPECT_TRUE(refuses("mahalanobis", parameters, {"3 numbers"}));
  parameters.inverse = {1, 0, 0, 1};
  EXPECT_TRUE(refuses("mahalanobis", parameters, {"2 × 2", "3 dimensions"}));
  parameters = {};
  parameters.weights = {1, 1, -1};
  EXPECT_TRUE(refuses("minkowski", parameters, {"weight 2 is -1"}));
  parameters.weights = {1, 1, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_TRUE(refuses("minkowski", parameters, {"weight 2 is nan"}));
  parameters.weights = {1, 1, 1};
  parameters.p = 0.5;
  EXPECT_TRUE(refuses("minkowski", parameters, {"p = 0.5"}));
  parameters = {};
  parameters.p = 3;
  EXPECT_TRUE(refuses("jaccard", parameters, {"takes no p"}));
  const Matrix<double> negative(1, 2, {1, -0.5});
  const Matrix<double> zero(1, 2, {0, 0});
  const auto jensenshannon = named_metric("jensenshannon");
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"queries row 0, column 1 is -0.5"},
                         [&] { search_by(jensenshannon, zero.view(), negative.view(), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"base row 0 is zero"}, [&] {
    search_by(jensenshannon, zero.view(), Matrix<double>(1, 2, {1, 1}).view(), 1);
  }));
  EXPECT_EQ(named_metric_names().size(), 11U);
}

TEST(NamedMetrics, KeepTheirPrecisionFarFromTheOrigin) {
  // Differences of points that have a large offset in common.
  const std::int64_t dims = 6;
  Matrix<double> base = random_points<double>(20, dims, 1, -1, 1);
  for (std::int64_t i = 0; i < base.rows() * dims; ++i) base.data()[i] += 1e9;
  for (const Case& each : cases(dims)) {
    if (each.name != "mahalanobis" && each.name != "seuclidean" && each.name != "minkowski") continue;
    const auto found = distances_by(named_metric(each.name, each.parameters), base.view(), base.view());
    for (std::int64_t q = 0; q < base.rows(); ++q)
      for (std::int64_t r = 0; r < base.rows(); ++r)
        expect_near(found(q, r), defined(each.name, each.parameters, row_of(base, q), row_of(base, r)), each.name);
  }
}

}  // namespace
}  // namespace kith::test
