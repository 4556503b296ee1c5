// The key of the library, function by function, against the oracle's.
#include "core/key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/oracle.hpp"
#include "support/problem.hpp"

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
  for (const Metric& metric : {Metric(MetricKind::sqeuclidean), Metric(MetricKind::cosine), Metric::minkowski(3),
                               Metric(MetricKind::inner_product), Metric(MetricKind::chebyshev)}) {
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
