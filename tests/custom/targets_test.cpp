// Formulas and mahalanobis have the same bits with every instruction set.
#include <gtest/gtest.h>

#include "cpu/simd_targets.hpp"
#include "kith/custom_metric.hpp"
#include "kith/named_metric.hpp"
#include "points.hpp"
#include "random_formula.hpp"

namespace kith::test {
namespace {

void expect_same_bits(const std::shared_ptr<const PairMetric>& metric, std::int64_t dims) {
  const Matrix<double> base = random_points<double>(35, dims, 1, -2, 2, 0.1);
  const Matrix<double> queries = random_points<double>(9, dims, 2, -2, 2, 0.1);
  const auto wanted = distances_by(metric, base.view(), queries.view());
  int targets = 0;
  on_every_target([&] {
    ++targets;
    const auto found = distances_by(metric, base.view(), queries.view());
    for (std::int64_t i = 0; i < 35 * 9; ++i)
      ASSERT_EQ(core::ordered_bits(found.data()[i]), core::ordered_bits(wanted.data()[i])) << metric->name();
  });
  EXPECT_GE(targets, 1);
}

TEST(CustomTargets, HaveTheSameBits) {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    const std::string text = random_formula(random, 3).text;
    for (const bool fuse : {true, false}) expect_same_bits(expression_metric(text, {false, fuse}), 1 + round % 20);
  }
  for (const char* text : {"sum(abs(x - y))", "sum(min(x, y)) / sum(max(x, y))", "max((x - y)^2)", "sum(x * y)"})
    expect_same_bits(expression_metric(text, {false, true}), 19);
  for (const std::int64_t dims : {1, 4, 7, 18}) {
    MetricParameters parameters;
    const Matrix<double> inverse = random_points<double>(dims, dims, 4, 0, 1);
    parameters.inverse.assign(inverse.data(), inverse.data() + dims * dims);
    expect_same_bits(named_metric("mahalanobis", parameters), dims);
  }
}

}  // namespace
}  // namespace kith::test
