// Formulas: what they evaluate to, beside made-up trees and plain loops, and which of them are metrics of the library.
#include <gtest/gtest.h>

#include <cmath>

#include "kith/custom_metric.hpp"
#include "kith/index.hpp"
#include "kith/named_metric.hpp"
#include "points.hpp"
#include "random_formula.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

constexpr ExpressionOptions kInterpreted{false, false};

double of_rows(const std::string& text, const Row& x, const Row& y, ExpressionOptions options = {}) {
  const auto dims = static_cast<std::int64_t>(x.size());
  const Matrix<double> query(1, dims, x);
  const Matrix<double> base(1, dims, y);
  return distances_by(expression_metric(text, options), base.view(), query.view())(0, 0);
}

TEST(Expressions, HaveTheValueOfTheirFormula) {
  const Row x = {1, -2, 3, 0.5};
  const Row y = {0, 2, 5, 0.25};
  const auto of = [&](const std::string& text) { return of_rows(text, x, y, kInterpreted); };
  EXPECT_EQ(of("sum(abs(x - y))"), 7.25);
  EXPECT_EQ(of("sum(x)"), 2.5);
  EXPECT_EQ(of("sum(y)"), 7.25);
  EXPECT_EQ(of("sum(i)"), 6);
  EXPECT_EQ(of("sum(2)"), 8);
  EXPECT_EQ(of("n"), 4);
  EXPECT_EQ(of("3 + 4 * 2"), 11);
  EXPECT_EQ(of("(3 + 4) * 2"), 14);
  EXPECT_EQ(of("2 - 3 - 4"), -5);
  EXPECT_EQ(of("2 ^ 3 ^ 2"), 512);
  EXPECT_EQ(of("-2 ^ 2"), -4);
  EXPECT_EQ(of("2 ^ -1"), 0.5);
  EXPECT_EQ(of("2 ** 0.5"), std::sqrt(2.0));
  EXPECT_EQ(of("2 * -3"), -6);
  EXPECT_EQ(of("+2 / 4 / 2"), 0.25);
  EXPECT_EQ(of("1e2 + .5 + 2."), 102.5);
  EXPECT_EQ(of("pi"), 3.141592653589793);
  EXPECT_EQ(of("max(x)"), 3);
  EXPECT_EQ(of("min(y - x)"), -1);
  EXPECT_EQ(of("prod(x)"), -3);
  EXPECT_EQ(of("mean(y)"), 7.25 / 4);
  EXPECT_EQ(of("max(1, 2, 3)"), 3);
  EXPECT_EQ(of("sum(min(x, y, 1))"), 0.0 - 2 + 1 + 0.25);
  EXPECT_EQ(of("sum(x < y) + 10 * sum(x >= y) + 100 * sum(x == 3) + 1000 * sum(y != 2)"), 2 + 20 + 100 + 3000);
  EXPECT_EQ(of("sum(x > 0) + 10 * sum(y <= 0)"), 13);
  EXPECT_EQ(of("sum(select(x > y, x - y, 2 * (y - x)))"), 1 + 8 + 4 + 0.25);
  EXPECT_EQ(of("1 - sum(min(x, y)) / sum(max(x, y))"), 1 - (0.0 - 2 + 3 + 0.25) / (1.0 + 2 + 5 + 0.5));
  EXPECT_EQ(of("sqrt(sum((x - y)^2))"), std::sqrt(1 + 16 + 4 + 0.0625));
  EXPECT_EQ(of("sum(asin(x / 10)) + acos(0.5) + log(2) + cos(1) + exp(1)"),
            std::asin(0.1) + std::asin(-0.2) + std::asin(0.3) + std::asin(0.05) + std::acos(0.5) + std::log(2.0) +
                std::cos(1.0) + std::exp(1.0));
  // Aggregations inside aggregations, as of a correlation.
  EXPECT_EQ(of("sum((x - mean(x)) * (y - mean(y)))"), [&] {
    const double mx = 2.5 / 4;
    const double my = 7.25 / 4;
    double sum = 0;
    for (std::size_t c = 0; c < 4; ++c) sum += (x[c] - mx) * (y[c] - my);
    return sum;
  }());
  EXPECT_EQ(of("max(x - sum(max(y - min(x)) * y))"), 3 - 7.25 * 7);
  EXPECT_TRUE(std::isnan(of("sqrt(sum(x) - 100)")));
}

TEST(Expressions, PropagateNan) {
  const Row x = {1, 0, 2};
  const Row y = {1, 0, 3};
  for (const ExpressionOptions& options : {ExpressionOptions{}, kInterpreted}) {
    for (const char* text : {"max(x / y)", "min(x / y)", "sum(x / y)", "prod(x / y)", "max(0 / 0, sum(x))",
                             "min(sum(x), 0 / 0)", "sum(max(x / y, 5))", "sum(min(7, x / y))"})
      EXPECT_TRUE(std::isnan(of_rows(text, x, y, options))) << text;
    EXPECT_EQ(of_rows("sum(select(y == 0, 0, x / y))", x, y, options), 1 + 2.0 / 3);
  }
}

// Sums in the order of coordinates, so that values are equal bit for bit.
TEST(Expressions, EvaluateRandomTreesInAnyShape) {
  Random random(77);
  for (int round = 0; round < 400; ++round) {
    const Formula formula = random_formula(random, 2 + static_cast<int>(random.below(3)));
    const std::int64_t dims = 1 + random.below(40);
    const std::int64_t rows = 1 + random.below(35);
    const std::int64_t count = 1 + random.below(6);
    const Matrix<double> base = random_points<double>(rows, dims, random.bits(), -2, 2, 0.1);
    const Matrix<double> queries = random_points<double>(count, dims, random.bits(), -2, 2, 0.1);
    for (const ExpressionOptions& options : {ExpressionOptions{false, true}, kInterpreted}) {
      const auto found = distances_by(expression_metric(formula.text, options), base.view(), queries.view());
      for (std::int64_t q = 0; q < count; ++q)
        for (std::int64_t r = 0; r < rows; ++r) {
          const double wanted = formula.value(row_of(queries, q), row_of(base, r), 0);
          const bool same = core::ordered_bits(found(q, r)) == core::ordered_bits(wanted);
          ASSERT_TRUE(same) << formula.text << " is " << found(q, r) << ", not " << wanted;
        }
    }
  }
}

TEST(Expressions, FuseTermsWithoutChangingThem) {
  const Matrix<double> base = random_points<double>(50, 23, 1, -1, 1);
  const Matrix<double> queries = random_points<double>(10, 23, 2, -1, 1);
  for (const char* text :
       {"sum(abs(x - y))", "sum(abs(y - x))", "sum((x - y)^2)", "sum((y - x) * (y - x))", "sum(x * y)", "sum(y * x)",
        "sum(min(x, y))", "sum(max(x, y))", "sum(abs(x + y))", "sum(abs(y + x))", "max(abs(x - y))", "max(x * y)",
        "max(min(x, y))", "max(max(x, y))", "max((x - y)^2)", "max(abs(x + y))", "sum(abs(x - y)) / sum(abs(x + y))"}) {
    const auto fused = distances_by(expression_metric(text, {false, true}), base.view(), queries.view());
    const auto stepped = distances_by(expression_metric(text, kInterpreted), base.view(), queries.view());
    for (std::int64_t i = 0; i < 500; ++i) ASSERT_EQ(fused.data()[i], stepped.data()[i]) << text;
  }
}

TEST(Expressions, AgreeWithTheSameFunctor) {
  struct Terms {
    double combine(double x, double y) const { return std::abs(x - y) / (1 + std::abs(x)); }
  };
  const Matrix<float> base = random_points<float>(800, 19, 1, -1, 1);
  const Matrix<float> queries = random_points<float>(30, 19, 2, -1, 1);
  const auto by_text = search_by(expression_metric("sum(abs(x - y) / (1 + abs(x)))"), base.view(), queries.view(), 20);
  const auto by_functor = search_by(Terms{}, base.view(), queries.view(), 20);
  EXPECT_EQ(by_text.ids, by_functor.ids);
  EXPECT_EQ(by_text.distances, by_functor.distances);
}

TEST(Expressions, AreRecognizedByTheirForm) {
  const auto known = [](const std::string& text) { return expression_metric(text)->built_in(); };
  for (const char* text : {"sum(abs(x - y))", "sum(abs(y-x))", " sum( abs( (x) - y ) ) "})
    EXPECT_EQ(known(text), Metric(MetricKind::manhattan)) << text;
  for (const char* text :
       {"sqrt(sum((x - y)^2))", "sqrt(sum((y - x) * (y - x)))", "sqrt(sum(pow(x - y, 2)))", "sqrt(sum((x - y) ** 2))"})
    EXPECT_EQ(known(text), Metric(MetricKind::euclidean)) << text;
  EXPECT_EQ(known("sum((x - y)^2)"), Metric(MetricKind::sqeuclidean));
  EXPECT_EQ(known("max(abs(x - y))"), Metric(MetricKind::chebyshev));
  EXPECT_EQ(known("mean(x != y)"), Metric(MetricKind::hamming));
  EXPECT_EQ(known("sum(y != x) / n"), Metric(MetricKind::hamming));
  for (const char* text : {"sum(abs(x + y))", "sum(abs(x - y)) + 0", "max(x - y)", "sum((x - y)^3)", "sum(x * y)",
                           "sum(x != x) / n", "sum(abs(x - y)^2)", "sum(x != y)"})
    EXPECT_FALSE(known(text)) << text;
  EXPECT_FALSE(expression_metric("sum(abs(x - y))", {false, true})->built_in());
}

TEST(Expressions, ThatAreRecognizedAreThatMetric) {
  const Matrix<float> base = random_points<float>(500, 8, 1, -1, 1);
  const Matrix<float> queries = random_points<float>(40, 8, 2, -1, 1);
  Options options;
  options.backend = Backend::cpu;
  Options manhattan = options;
  manhattan.metric = MetricKind::manhattan;
  const auto metric = expression_metric("sum(abs(x - y))");
  const auto wanted = search(base.view(), queries.view(), 10, manhattan);
  const auto found = search_by(metric, base.view(), queries.view(), 10, options);
  EXPECT_EQ(found.ids, wanted.ids);
  EXPECT_EQ(found.distances, wanted.distances);
  EXPECT_EQ(found.report.plan.metric, Metric(MetricKind::manhattan));
  // With what only that metric has.
  options.method = Method::tree;
  EXPECT_EQ(search_by(metric, base.view(), queries.view(), 10, options).report.plan.method, Method::tree);
  options.method = Method::automatic;
  const float radius[] = {0.9F};
  EXPECT_EQ(
      search_radius_by(metric, base.view(), queries.view(), std::span<const float>(radius)).ids,
      search_radius(base.view(), queries.view(), std::span<const float>(radius), RadiusOutput::neighbors, manhattan)
          .ids);
  EXPECT_EQ(search_self_by(metric, base.view(), 3, options).ids,
            Index<float>(base.view(), manhattan).search_self(3).ids);
  EXPECT_EQ(distances_by(metric, base.view(), queries.view(), options)(3, 4),
            distances(base.view(), queries.view(), manhattan)(3, 4));
  // And by the interpreter, but for the last bits.
  const auto interpreted =
      search_by(expression_metric("sum(abs(x - y))", kInterpreted), base.view(), queries.view(), 10);
  for (std::size_t i = 0; i < wanted.distances.size(); ++i)
    EXPECT_NEAR(interpreted.distances[i], wanted.distances[i], 1e-6);
  options.metric = MetricKind::cosine;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"options.metric = cosine too"},
                         [&] { search_by(metric, base.view(), queries.view(), 1, options); }));
}

TEST(Expressions, KeepDifferencesThatAlmostCancel) {
  // Products of coordinates would lose all digits here.
  Matrix<double> base = random_points<double>(64, 5, 1, -1, 1);
  for (std::int64_t i = 0; i < 320; ++i) base.data()[i] = base.data()[i] * 1e-3 + 1e8;
  const auto found = distances_by(expression_metric("sqrt(sum((x - y)^2))", kInterpreted), base.view(), base.view());
  for (std::int64_t q = 0; q < 64; ++q)
    for (std::int64_t r = 0; r < 64; ++r) {
      double sum = 0;
      for (std::int64_t c = 0; c < 5; ++c) sum += (base(q, c) - base(r, c)) * (base(q, c) - base(r, c));
      ASSERT_EQ(found(q, r), std::sqrt(sum));
    }
}

}  // namespace
}  // namespace kith::test
