// The key of the library, function by function, against the oracle's.
#include "core/key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/oracle.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

template <Element T>
double library_key(MatrixView<T> x, MatrixView<T> y, std::int64_t row, const Metric& metric) {
  const core::RowFacts x_facts = core::row_facts(metric.kind, x.row(row), x.col_stride, x.cols);
  const core::RowFacts y_facts = core::row_facts(metric.kind, y.row(row), y.col_stride, y.cols);
  const bool centered = metric.kind == MetricKind::correlation;
  const double raw =
      core::raw_sum(core::form_of(metric), metric.p, x.row(row), x.col_stride, centered ? x_facts.mean : 0, y.row(row),
                    y.col_stride, centered ? y_facts.mean : 0, x.cols);
  return core::returned_value(metric, core::finish(metric, raw, x_facts, y_facts, x.cols));
}

TEST(Key, IsTheOraclesBitForBit) {
  for (const Metric& metric : all_metrics()) {
    for (const DType dtype : all_dtypes()) {
      for (const Kind kind : all_kinds()) {
        for (const std::int64_t dims : {2, 7, 8, 9, 64, 131}) {
          with_dtype(dtype, [&]<class T>() {
            const Case c{kind, dtype, metric, {6, 6, dims}};
            const Agreement agreement = agreement_for(c);
            if (!agreement.bitwise) return;
            const Sample<T> sample = generate<T>(kind, c.shape, metric, static_cast<std::uint64_t>(dims));
            const Points<T> x(sample.queries, Layout::interleaved);
            const Points<T> y(sample.base, Layout::column_major);
            for (std::int64_t i = 0; i < 6; ++i) {
              EXPECT_EQ(library_key(x.view(), y.view(), i, metric),
                        key_distance(sample.queries.row(i), sample.base.row(i), dims, metric))
                  << c;
            }
          });
        }
      }
    }
  }
}

TEST(Key, MinkowskiWithANamedPIsThatMetric) {
  EXPECT_EQ(core::effective_kind(Metric::minkowski(1)), MetricKind::manhattan);
  EXPECT_EQ(core::effective_kind(Metric::minkowski(2)), MetricKind::euclidean);
  EXPECT_EQ(core::effective_kind(Metric::minkowski(std::numeric_limits<double>::infinity())), MetricKind::chebyshev);
  EXPECT_EQ(core::effective_kind(Metric::minkowski(3)), MetricKind::minkowski);
}

TEST(Key, AppendedZerosChangeNothing) {
  Sample<double> sample = generate<double>(Kind::gaussian, {1, 1, 21}, MetricKind::euclidean, 1);
  for (const Metric& metric :
       {Metric(MetricKind::sqeuclidean), Metric(MetricKind::cosine), Metric::minkowski(3),
        Metric(MetricKind::inner_product), Metric(MetricKind::chebyshev), Metric(MetricKind::canberra)}) {
    const double want = library_key(sample.queries.view(), sample.base.view(), 0, metric);
    for (const std::int64_t extra : {1, 2, 3, 40}) {
      Matrix<double> x(1, 21 + extra);
      Matrix<double> y(1, 21 + extra);
      std::copy_n(sample.queries.data(), 21, x.data());
      std::copy_n(sample.base.data(), 21, y.data());
      EXPECT_EQ(library_key(x.view(), y.view(), 0, metric), want) << kith::to_string(metric) << " + " << extra;
    }
  }
}

// Integers below 2^11, times a power of two: subnormal at one end, with sums that overflow at the other.
template <class F>
void expect_same_ratio_at_every_scale() {
  constexpr int kBits = 11;
  Random random(4);
  const auto integer = [&] { return static_cast<F>(random.below(2 << kBits)) - static_cast<F>(1 << kBits); };
  for (int i = 0; i < 300; ++i) {
    const F x = integer();
    const F y = integer();
    const F want = x == y ? F{0} : std::abs(x - y) / (std::abs(x) + std::abs(y));
    using Limits = std::numeric_limits<F>;
    for (const int exponent : {Limits::min_exponent - Limits::digits, Limits::min_exponent, -kBits, 0, 1,
                               Limits::max_exponent - kBits - 1}) {
      EXPECT_EQ(core::ratio_term(std::ldexp(x, exponent), std::ldexp(y, exponent)), want)
          << x << ' ' << y << " times 2^" << exponent;
    }
  }
}

TEST(Key, RatiosAreTheSameAtEveryScale) {
  expect_same_ratio_at_every_scale<float>();
  expect_same_ratio_at_every_scale<double>();
}

TEST(Key, RatiosAtTheEndsOfTheRange) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(core::ratio_term(kLargest, -kLargest), 1);
  EXPECT_EQ(core::ratio_term(kLargest, kLargest), 0);
  EXPECT_EQ(core::ratio_term(kLargest, kLeast), 1);
  EXPECT_EQ(core::ratio_term(kLeast, 2 * kLeast), 1.0 / 3);
  EXPECT_EQ(core::ratio_term(1.0, std::nextafter(1.0, 2.0)), 0x1p-53);
  for (const double x : {0.0, -0.0}) {
    for (const double y : {0.0, -0.0}) {
      EXPECT_EQ(core::ratio_term(x, y), 0);
      EXPECT_FALSE(std::signbit(core::ratio_term(x, y)));
    }
    EXPECT_EQ(core::ratio_term(x, kLeast), 1);
    EXPECT_EQ(core::ratio_term(x, -kLargest), 1);
  }
}

TEST(Key, IsSymmetric) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {20, 20, 45}, MetricKind::correlation, 2);
  for (const Metric& metric : all_metrics()) {
    for (std::int64_t i = 0; i < 20; ++i) {
      EXPECT_EQ(library_key(sample.queries.view(), sample.base.view(), i, metric),
                library_key(sample.base.view(), sample.queries.view(), i, metric));
    }
  }
}

}  // namespace
}  // namespace kith::test
