// Points under declared metrics beside search_by(): the same answers, of fewer evaluations.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "kith/custom_metric.hpp"
#include "kith/named_metric.hpp"
#include "kith/pivot_points.hpp"
#include "points.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

// Of the directions of two rows, and counted.
template <class T>
struct Angle {
  std::atomic<std::int64_t>* calls;
  double operator()(std::span<const T> x, std::span<const T> y) const {
    ++*calls;
    double xy = 0;
    double xx = 0;
    double yy = 0;
    for (std::size_t c = 0; c < x.size(); ++c) {
      const double a = static_cast<double>(x[c]);
      const double b = static_cast<double>(y[c]);
      xy += a * b;
      xx += a * a;
      yy += b * b;
    }
    return std::acos(std::clamp(xy / std::sqrt(xx * yy), -1.0, 1.0));
  }
};

// The angle of nearly equal rows loses half of all digits.
DistanceProperties coarse() {
  DistanceProperties properties;
  properties.absolute_error = 1e-7;
  return properties;
}

template <class Found, class Wanted>
void expect_same(const Found& found, const Wanted& wanted) {
  ASSERT_EQ(found.ids, wanted.ids);
  for (std::size_t i = 0; i < found.ids.size(); ++i)
    ASSERT_EQ(found.distances[i], static_cast<double>(wanted.distances[i]));
}

template <class T>
class DeclaredMetrics : public testing::Test {};
using Types = testing::Types<float, double, std::uint8_t>;
TYPED_TEST_SUITE(DeclaredMetrics, Types);

TYPED_TEST(DeclaredMetrics, FindWhatBruteForceFinds) {
  using T = TypeParam;
  using D = DistanceOf<T>;
  const Matrix<T> base = random_points<T>(3000, 3, 1, 0.2, 1);
  const Matrix<T> queries = random_points<T>(60, 3, 2, 0.2, 1);
  std::atomic<std::int64_t> calls = 0;
  const std::shared_ptr<const PairMetric> metrics[] = {
      pair_metric<T>(Angle<T>{&calls}), expression_metric("sum(abs(x - y)) + max(abs(x - y))", {}),
      pair_metric<T>(static_cast<PairFunction>([](const double* x, const double* y, std::int64_t dims, void*) {
        double sum = 0;
        for (std::int64_t c = 0; c < dims; ++c) sum += std::sqrt(std::abs(x[c] - y[c]));
        return sum;
      }))};
  for (const auto& metric : metrics) {
    const PivotPoints<T> index(metric, base.view(), coarse());
    EXPECT_GT(index.pivots().size(), 0U);
    calls = 0;
    const auto found = index.search(queries.view(), 5);
    if (metric == metrics[0]) {
      EXPECT_EQ(calls, found.report.evaluations);
    }
    expect_same(found, search_by(metric, base.view(), queries.view(), 5));
    EXPECT_EQ(found.report.pairs, 180000);
    EXPECT_LT(found.report.evaluations, 90000) << metric->name();
    EXPECT_EQ(found.report.build_evaluations, index.build_evaluations());
    expect_same(index.search_self(3), search_self_by(metric, base.view(), 3));
    const D radius[] = {static_cast<D>(found.distances_of(0)[3])};
    const double wide[] = {static_cast<double>(radius[0])};
    const auto within = index.search_radius(queries.view(), wide);
    const auto wanted = search_radius_by(metric, base.view(), queries.view(), std::span<const D>(radius));
    EXPECT_EQ(within.offsets, wanted.offsets);
    expect_same(within, wanted);
  }
}

TEST(DeclaredMetrics, AreRefusedWhereASampleBreaksThem) {
  const Matrix<double> base = random_points<double>(50, 4, 1, -1, 1);
  const auto refuses = [&](const char* formula, const std::vector<std::string>& mentions,
                           const DistanceProperties& properties = {}) {
    return fails_with(ErrorCode::bad_data, mentions,
                      [&] { PivotPoints<double>(expression_metric(formula), base.view(), properties); });
  };
  EXPECT_TRUE(refuses("sum((x - y)^2)", {"by way of point", "triangle inequality was promised"}));
  EXPECT_TRUE(refuses("sum(abs(x - y)) + max(abs(x))", {"the other way", "symmetric"}));
  EXPECT_TRUE(refuses("sum(x - y)", {"finite and not negative"}));
  DistanceProperties nothing;
  nothing.triangle_inequality = nothing.symmetric = false;
  const auto square = expression_metric("sum((x - y)^2)", {.recognize = false});
  const PivotPoints<double> index(square, base.view(), nothing);
  const auto found = index.search(base.view(), 4);
  expect_same(found, search_by(square, base.view(), base.view(), 4));
  EXPECT_EQ(found.report.evaluations, 2500);
  EXPECT_EQ(index.build_evaluations(), 0);
}

TEST(DeclaredMetrics, RefuseWhatSearchesRefuse) {
  Matrix<double> base = random_points<double>(50, 4, 1, -1, 1);
  const auto metric = expression_metric("sum(abs(x - y))", {});
  const PivotPoints<double> index(metric, base.view());
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 51"}, [&] { index.search(base.view(), 51); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"base has 4 dimensions", "queries have 3"}, [&] {
    index.search({base.data(), 10, 3, 4, 1}, 1);
  }));
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"null pointer"}, [&] { PivotPoints<double>(nullptr, base.view()); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"lie on a device"},
                         [&] { index.search(MatrixView<double>::on_device(base.data(), 10, 4), 1); }));
  base(3, 2) = std::nan("");
  EXPECT_TRUE(
      fails_with(ErrorCode::bad_data, {"queries row 3, column 2 is nan"}, [&] { index.search(base.view(), 1); }));
}

}  // namespace
}  // namespace kith::test
