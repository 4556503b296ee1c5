// distances(): the whole matrix, each element the key that search() returns.
#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Distances, ProgressCanCancel) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {3000, 100, 8}, MetricKind::euclidean, 1);
  Options options;
  options.progress = [](const Progress&) { return false; };
  EXPECT_TRUE(
      fails_with(ErrorCode::cancelled, {}, [&] { distances(sample.base.view(), sample.queries.view(), options); }));
}

}  // namespace
}  // namespace kith::test
