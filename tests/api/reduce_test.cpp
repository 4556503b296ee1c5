// Reductions over neighbors are those over the lists that a search returns, whatever the method and the backend; the
// normals of a sphere point to its center.
#include "kith/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "support/compare.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

Matrix<float> random_points(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  return generate<float>(Kind::gaussian, {rows, 1, cols}, MetricKind::euclidean, seed).base;
}

struct Way {
  Backend backend;
  Method method;
};

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const Backend backend : available_backends())
    for (const Method method : {Method::automatic, Method::shifted_sort}) ways.push_back({backend, method});
  return ways;
}

class Reduce : public testing::TestWithParam<Way> {
 protected:
  static Options options() {
    Options options;
    options.backend = GetParam().backend;
    options.method = GetParam().method;
    options.shifted_sort.curve = Curve::hilbert;  // left open, backends would differ in it
    return options;
  }
};

// What an operation makes of neighbors, by its definition.
double expected(ReduceOp op, const std::vector<double>& values, const std::vector<double>& distances) {
  const auto k = static_cast<double>(values.size());
  double sum = 0;
  double weights = 0;
  double weighted = 0;
  const bool at_zero = distances.front() == 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double weight = at_zero ? (distances[i] == 0 ? 1.0 : 0.0) : 1 / distances[i];
    sum += values[i];
    weights += weight;
    weighted += weight * values[i];
  }
  switch (op) {
    case ReduceOp::mean: return sum / k;
    case ReduceOp::sum: return sum;
    case ReduceOp::weighted_mean: return weighted / weights;
    case ReduceOp::min: return *std::min_element(values.begin(), values.end());
    case ReduceOp::max: return *std::max_element(values.begin(), values.end());
    default: return 0;
  }
}

TEST_P(Reduce, OfValuesIsThatOverTheLists) {
  const auto base = random_points(200, 3, 1);
  auto queries = random_points(20, 3, 2);
  for (std::int64_t c = 0; c < 3; ++c) queries(0, c) = base(7, c);  // at distance 0
  const auto values = random_points(200, 4, 3);
  for (const std::int64_t k : {1, 5, 40}) {
    const auto found = search(base.view(), queries.view(), k, options());
    for (const ReduceOp op : {ReduceOp::mean, ReduceOp::weighted_mean, ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
      SCOPED_TRACE(testing::Message() << to_string(op) << ", k = " << k);
      const auto reduced = reduce(base.view(), queries.view(), k, values.view(), op, options());
      ASSERT_EQ(reduced.values.rows(), 20);
      ASSERT_EQ(reduced.values.cols(), 4);
      for (std::int64_t q = 0; q < 20; ++q)
        for (std::int64_t c = 0; c < 4; ++c) {
          std::vector<double> near;
          for (const std::int64_t id : found.ids_of(q)) near.push_back(values(id, c));
          const auto row = found.distances_of(q);
          const double right = expected(op, near, std::vector<double>(row.begin(), row.end()));
          EXPECT_NEAR(reduced.values(q, c), right, 1e-5 * (1 + std::abs(right)));
        }
    }
  }
}

TEST_P(Reduce, DistancesAndDensities) {
  const auto base = random_points(150, 3, 4);
  const auto queries = random_points(9, 3, 5);
  const auto found = search(base.view(), queries.view(), 6, options());
  const auto kth = reduce(base.view(), queries.view(), 6, MatrixView<float>(), ReduceOp::kth_distance, options());
  const auto density = reduce(base.view(), queries.view(), 6, MatrixView<float>(), ReduceOp::density, options());
  for (std::int64_t q = 0; q < 9; ++q) {
    const double radius = found.distances_of(q).back();
    EXPECT_EQ(kth.values(q, 0), found.distances_of(q).back());
    const double volume = 4.0 / 3.0 * std::numbers::pi * radius * radius * radius;
    EXPECT_NEAR(density.values(q, 0) * volume / 6, 1, 1e-6);
  }
}

// The ball of radius 1 has no volume that a double could hold, that of the neighbors has: all distances are 16 in 400
// dimensions, and 256 if they are added up.
TEST_P(Reduce, DensitiesInManyDimensions) {
  if (options().method == Method::shifted_sort) GTEST_SKIP() << "it takes 16 dimensions";
  Matrix<double> base(2, 400);
  Matrix<double> query(1, 400);
  for (std::int64_t c = 0; c < 256; ++c) base(0, c) = base(1, c) = c % 2 == 0 ? 1 : -1;
  const auto logarithm = [&](MetricKind metric) {
    Options asked = options();
    asked.metric = metric;
    return std::log(reduce(base.view(), query.view(), 2, MatrixView<double>(), ReduceOp::density, asked).values(0, 0));
  };
  const double euclidean = 200 * std::log(std::numbers::pi) - std::lgamma(201.0) + 400 * std::log(16.0);
  EXPECT_NEAR(logarithm(MetricKind::euclidean), std::log(2.0) - euclidean, 1e-9);
  const double manhattan = 400 * std::log(2.0) - std::lgamma(401.0) + 400 * std::log(256.0);
  EXPECT_NEAR(logarithm(MetricKind::manhattan), std::log(2.0) - manhattan, 1e-9);
}

TEST_P(Reduce, CovarianceFarFromTheOrigin) {
  auto base = random_points(150, 3, 6);
  for (std::int64_t r = 0; r < 150; ++r) base(r, 1) += 1000;
  const std::int64_t k = 33;
  const MatrixView<float> queries = base.view().rows_from(0, 8);
  const auto found = search(base.view(), queries, k, options());
  const auto reduced = reduce(base.view(), queries, k, MatrixView<float>(), ReduceOp::covariance, options());
  ASSERT_EQ(reduced.values.cols(), 6);
  for (std::int64_t q = 0; q < 8; ++q) {
    double means[3] = {};
    for (const std::int64_t id : found.ids_of(q))
      for (std::int64_t c = 0; c < 3; ++c) means[c] += base(id, c) / static_cast<double>(k);
    std::int64_t column = 0;
    for (std::int64_t a = 0; a < 3; ++a)
      for (std::int64_t b = a; b < 3; ++b) {
        double right = 0;
        for (const std::int64_t id : found.ids_of(q))
          right += (base(id, a) - means[a]) * (base(id, b) - means[b]) / static_cast<double>(k);
        EXPECT_NEAR(reduced.values(q, column++), right, 1e-5);
      }
  }
}

TEST_P(Reduce, NormalsOfASphere) {
  auto points = random_points(800, 3, 7);
  for (std::int64_t r = 0; r < points.rows(); ++r) {
    const float length = std::hypot(points(r, 0), points(r, 1), points(r, 2));
    for (std::int64_t c = 0; c < 3; ++c) points(r, c) /= length;
  }
  const MatrixView<float> queries = points.view().rows_from(0, 40);
  const auto reduced = reduce(points.view(), queries, 12, MatrixView<float>(), ReduceOp::covariance, options());
  const Matrix<float> directions = normals(reduced.values, 3);
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    double along = 0;
    for (std::int64_t c = 0; c < 3; ++c) along += directions(q, c) * points(q, c);
    EXPECT_GT(std::abs(along), 0.95) << "point " << q;
  }
}

// Coordinates of points that never are on a device as a whole.
TEST_P(Reduce, OfABaseThatIsStreamed) {
  if (options().method == Method::shifted_sort) GTEST_SKIP() << "it keeps the base on the device";
  const auto base = random_points(607, 13, 8);
  const auto queries = random_points(7, 13, 9);
  Options cpu = options();
  cpu.backend = Backend::cpu;
  Options little = options();
  if (little.backend != Backend::cpu) little.memory_budget = 41 << 10;
  for (const ReduceOp op : {ReduceOp::covariance, ReduceOp::kth_distance}) {
    const auto here = reduce(base.view(), queries.view(), 5, MatrixView<float>(), op, little);
    const auto there = reduce(base.view(), queries.view(), 5, MatrixView<float>(), op, cpu);
    EXPECT_TRUE(std::equal(here.values.data(), here.values.data() + 7 * here.values.cols(), there.values.data()));
    EXPECT_TRUE(little.memory_budget == 0 || here.report.plan.base_tile < 607);
  }
}

TEST_P(Reduce, RefusesWhatMakesNoSense) {
  const auto base = random_points(10, 3, 11);
  const auto values = random_points(9, 1, 12);
  const auto refused = [&](ReduceOp op, MetricKind metric, const Matrix<float>& of, const std::string& says) {
    Options with = options();
    with.metric = metric;
    with.method = Method::automatic;
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {says},
                           [&] { reduce(base.view(), base.view(), 2, of.view(), op, with); }));
  };
  refused(ReduceOp::mean, MetricKind::euclidean, values, "9 rows of values for 10");
  refused(ReduceOp::density, MetricKind::cosine, values, "cosine");
  refused(ReduceOp::weighted_mean, MetricKind::inner_product, base, "negative");
  EXPECT_THROW(normals(base, 3), Error);
}

INSTANTIATE_TEST_SUITE_P(Ways, Reduce, testing::ValuesIn(all_ways()), [](const auto& way) {
  const bool shifted = way.param.method == Method::shifted_sort;
  return std::string(to_string(way.param.backend)) + (shifted ? "_shifted" : "");
});

}  // namespace
}  // namespace kith::test
