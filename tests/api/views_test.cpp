// Views: whatever the strides, the answer is that of the packed copy.
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "kith/graph.hpp"
#include "kith/search.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

template <Element T>
Matrix<T> packed(MatrixView<T> view) {
  Matrix<T> copy(view.rows, view.cols);
  for (std::int64_t i = 0; i < view.rows; ++i)
    for (std::int64_t c = 0; c < view.cols; ++c) copy(i, c) = view(i, c);
  return copy;
}

template <Element T>
void expect_same_as_packed(MatrixView<T> base, MatrixView<T> queries, std::int64_t k) {
  const Sample<T> copy{packed(base), packed(queries)};
  for (const MetricKind metric : {MetricKind::sqeuclidean, MetricKind::manhattan, MetricKind::inner_product}) {
    for (const DistanceStage stage : usable_stages(copy, metric, k)) {
      const Options options = options_for(metric, stage);
      EXPECT_TRUE(same_answer(search(base, queries, k, options), search(copy, k, options)))
          << stage << ' ' << kith::to_string(Metric(metric));
    }
  }
}

TEST(Views, ColumnMajorHelper) {
  const std::vector<float> columns = {1, 2, 3, 10, 20, 30};
  const MatrixView<float> view = MatrixView<float>::column_major(columns.data(), 3, 2);
  EXPECT_EQ(view(2, 0), 3);
  EXPECT_EQ(view(2, 1), 30);
  const float query[] = {3, 30};
  const Neighbors<float> got = search(view, MatrixView<float>(query, 1, 2), 3);
  EXPECT_EQ(got.ids, (std::vector<std::int64_t>{2, 1, 0}));
}

// Windows over a series: each row starts one element after the one before.
TEST(Views, OverlappingRows) {
  const Matrix<float> series = generate<float>(Kind::gaussian, {1, 1, 900}, MetricKind::euclidean, 2).base;
  const MatrixView<float> windows(series.data(), 880, 21, 1, 1);
  expect_same_as_packed(windows, windows.rows_from(100, 9), 6);
}

TEST(Views, OneRowSeenManyTimes) {
  const Matrix<float> row = generate<float>(Kind::gaussian, {1, 1, 19}, MetricKind::euclidean, 3).base;
  expect_same_as_packed(MatrixView<float>(row.data(), 250, 19, 0, 1), MatrixView<float>(row.data(), 7, 19, 0, 1), 30);
}

TEST(Views, OneCoordinateSeenManyTimes) {
  const Matrix<float> column = generate<float>(Kind::gaussian, {300, 1, 1}, MetricKind::euclidean, 4).base;
  const MatrixView<float> repeated(column.data(), 300, 24, 1, 0);
  expect_same_as_packed(repeated, repeated.rows_from(5, 8), 30);
}

TEST(Views, NegativeStridesAreRefusedByName) {
  const Matrix<float> points = generate<float>(Kind::gaussian, {20, 1, 3}, MetricKind::euclidean, 5).base;
  const MatrixView<float> upwards(points.data() + 19 * 3, 20, 3, -3, 1);
  const MatrixView<float> backwards(points.data() + 2, 20, 3, 3, -1);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"base", "-3"}, [&] { search(upwards, points.view(), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"quer", "-1"}, [&] { search(points.view(), backwards, 1); }));
}

TEST(Views, ABlockOfAWiderMatrix) {
  const Matrix<std::uint8_t> wide = generate<std::uint8_t>(Kind::uniform, {400, 1, 100}, MetricKind::euclidean, 6).base;
  const MatrixView<std::uint8_t> block(wide.data() + 13, 400, 37, 100, 1);
  const MatrixView<std::uint8_t> other(wide.data() + 61, 20, 37, 300, 1);
  expect_same_as_packed(block, other, 10);
}

TEST(Views, ASingleRowMayHaveAnyRowStride) {
  const float point[] = {1, 2, 3};
  for (const std::int64_t stride : {0, 1, 12345}) {
    const MatrixView<float> view(point, 1, 3, stride, 1);
    EXPECT_EQ(search(view, view, 1).distances, std::vector<float>{0});
  }
}

}  // namespace
}  // namespace kith::test
