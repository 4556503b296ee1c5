// distances(): the whole matrix, each element the key that search() returns.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/key.hpp"
#include "kith/search.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"

namespace kith::test {
namespace {

template <Element T>
void expect_oracle_distances(const Case& c) {
  const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
  const Points<T> base(sample.base, c.base_layout);
  const Points<T> queries(sample.queries, c.query_layout);
  const Agreement agreement = agreement_for(c);
  const auto truth = truth_for(sample, c);
  const Matrix<DistanceOf<T>> got = distances(base.view(), queries.view(), c.options());
  ASSERT_EQ(got.rows(), c.shape.queries);
  ASSERT_EQ(got.cols(), c.shape.base_rows);
  for (std::int64_t i = 0; i < got.rows(); ++i) {
    for (std::int64_t j = 0; j < got.cols(); ++j) {
      ASSERT_TRUE(agrees(got(i, j), truth.distance(i, j), agreement))
          << c << ": query " << i << ", base " << j << ": " << got(i, j) << ", expected " << truth.distance(i, j);
    }
  }
}

TEST(Distances, EqualTheOracle) {
  for (const Case& c : every_metric_type_and_kind({{67, 5, 37}, {9, 19, 8}}))
    with_dtype(c.dtype, [&]<class T>() { expect_oracle_distances<T>(c); });
}

TEST(Distances, ASmallBudgetChangesNothing) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {3000, 100, 50}, MetricKind::euclidean, 1);
  Options options;
  const Matrix<float> want = distances(sample.base.view(), sample.queries.view(), options);
  options.memory_budget = 1 << 20;
  const Matrix<float> got = distances(sample.base.view(), sample.queries.view(), options);
  EXPECT_TRUE(std::equal(want.data(), want.data() + 300000, got.data()));
}

TEST(Distances, RefuseWhatSearchRefuses) {
  const Matrix<float> points(3, 2, {1, 2, 3, 4, 5, 6});
  const Matrix<float> wide(1, 3, {1, 2, 3});
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"2", "3"}, [&] { distances(points.view(), wide.view()); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { distances(MatrixView<float>(), points.view()); }));
  const Matrix<float> zero(1, 2, {0, 0});
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"row 0"},
                         [&] { distances(points.view(), zero.view(), options_for(MetricKind::cosine)); }));
}

// The key by its definition, coordinate after coordinate.
template <Element T>
DistanceOf<T> scalar_key(const Metric& metric, const Matrix<T>& base, std::int64_t b, const Matrix<T>& queries,
                         std::int64_t q) {
  const MetricKind kind = core::effective_kind(metric);
  const std::int64_t dims = base.cols();
  const core::RowFacts x = core::row_facts(kind, queries.row(q), 1, dims);
  const core::RowFacts y = core::row_facts(kind, base.row(b), 1, dims);
  const double raw =
      core::raw_sum(core::form_of(metric), metric.p, queries.row(q), 1, x.mean, base.row(b), 1, y.mean, dims);
  return static_cast<DistanceOf<T>>(core::finish(metric, raw, x, y, dims));
}

TEST(Distances, AreTheKeysBitForBit) {
  for (const Metric& metric : all_metrics())
    for (const DType dtype : all_dtypes())
      with_dtype(dtype, [&]<class T>() {
        for (const std::int64_t dims : {3, 8, 21}) {
          const Sample<T> sample = generate<T>(Kind::gaussian, {700, 53, dims}, metric, 5);
          Options options;
          options.backend = Backend::cpu;
          options.metric = metric;
          options.threads = 2;
          const Matrix<DistanceOf<T>> got = distances(sample.base.view(), sample.queries.view(), options);
          for (std::int64_t q = 0; q < 53; ++q)
            for (std::int64_t b = 0; b < 700; b += 1 + q % 3) {
              const auto key = scalar_key(metric, sample.base, b, sample.queries, q);
              ASSERT_EQ(got(q, b), core::returned_value(metric, key)) << kith::to_string(metric) << ' ' << dims;
            }
        }
      });
}

// Products of square norms that double cannot hold.
TEST(Distances, OfVectorsOfAnyLength) {
  Options options;
  options.backend = Backend::cpu;
  options.metric = MetricKind::cosine;
  for (const double scale : {1e-80, 1e80}) {
    Sample<double> sample = generate<double>(Kind::gaussian, {50, 20, 4}, MetricKind::cosine, 3);
    for (std::int64_t row = 0; row < 50; row += 3)
      for (std::int64_t c = 0; c < 4; ++c) sample.base(row, c) *= scale;
    for (std::int64_t c = 0; c < 4; ++c) sample.queries(7, c) *= scale;
    const Matrix<double> got = distances(sample.base.view(), sample.queries.view(), options);
    for (std::int64_t q = 0; q < 20; ++q)
      for (std::int64_t b = 0; b < 50; ++b)
        EXPECT_EQ(got(q, b), scalar_key(options.metric, sample.base, b, sample.queries, q)) << scale;
  }
}

TEST(Distances, IntoMemoryOfTheCaller) {
  const Sample<double> sample = generate<double>(Kind::gaussian, {90, 7, 5}, MetricKind::euclidean, 1);
  const Matrix<double> want = distances(sample.base.view(), sample.queries.view());
  std::vector<double> got(90 * 7);
  distances_into(sample.base.view(), sample.queries.view(), got.data());
  EXPECT_TRUE(std::equal(got.begin(), got.end(), want.data()));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"null"},
                         [&] { distances_into<double>(sample.base.view(), sample.queries.view(), nullptr); }));
}

// A callback is asked often enough that to cancel takes no time to speak of.
TEST(Distances, ProgressComesInSmallSteps) {
  for (const Shape& shape : {Shape{30000, 100, 2}, Shape{700, 300, 700}}) {
    const Sample<float> sample = generate<float>(Kind::gaussian, shape, MetricKind::euclidean, 1);
    std::int64_t last = 0;
    std::int64_t largest = 0;
    Options options;
    options.backend = Backend::cpu;
    options.threads = 1;
    options.progress = [&](const Progress& progress) {
      largest = std::max(largest, progress.done - last);
      last = progress.done;
      return true;
    };
    distances(sample.base.view(), sample.queries.view(), options);
    EXPECT_LE(largest, 1 << 15) << shape.dims << " dimensions";
  }
}

TEST(Distances, ProgressCanCancel) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {3000, 100, 8}, MetricKind::euclidean, 1);
  Options options;
  options.progress = [](const Progress&) { return false; };
  EXPECT_TRUE(
      fails_with(ErrorCode::cancelled, {}, [&] { distances(sample.base.view(), sample.queries.view(), options); }));
}

}  // namespace
}  // namespace kith::test
