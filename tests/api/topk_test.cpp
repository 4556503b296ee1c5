// topk(): the k smallest or largest of each row, against sorting whole rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "kith/topk.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

template <Element T>
bool is_nan(T value) {
  return value != value;
}

// The ids of a row in the order of topk: by value, NaN last either way, the smaller id first among equals.
template <Element T>
std::vector<std::int64_t> sorted_ids(const T* row, std::int64_t cols, bool largest) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(cols));
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](std::int64_t a, std::int64_t b) {
    if (is_nan(row[a]) || is_nan(row[b])) return !is_nan(row[a]) && is_nan(row[b]);
    return largest ? row[a] > row[b] : row[a] < row[b];
  });
  return ids;
}

template <Element T>
bool same_value(T a, T b) {
  return a == b || (is_nan(a) && is_nan(b));
}

template <Element T>
testing::AssertionResult is_topk(const Topk<T>& got, const Matrix<T>& matrix, std::int64_t k, bool largest) {
  const auto cells = static_cast<std::size_t>(matrix.rows() * k);
  if (got.rows != matrix.rows() || got.k != k || got.ids.size() != cells || got.values.size() != cells) {
    return testing::AssertionFailure() << "wrong shape: " << got.rows << " x " << got.k << ", " << got.ids.size()
                                       << " ids, " << got.values.size() << " values";
  }
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    const std::vector<std::int64_t> want = sorted_ids(matrix.row(i), matrix.cols(), largest);
    for (std::int64_t j = 0; j < k; ++j) {
      const auto at = static_cast<std::size_t>(i * k + j);
      const std::int64_t id = want[static_cast<std::size_t>(j)];
      if (got.ids[at] == id && same_value(got.values[at], matrix(i, id))) continue;
      return testing::AssertionFailure() << "row " << i << ", rank " << j << ": " << +got.values[at] << " (id "
                                         << got.ids[at] << "), expected " << +matrix(i, id) << " (id " << id << ")";
    }
  }
  return testing::AssertionSuccess();
}

// Rows with ties, infinities, NaN and zeros of both signs where the type has them.
template <Element T>
Matrix<T> rows_of(Kind kind, std::int64_t rows, std::int64_t cols, bool specials, std::uint64_t seed) {
  Matrix<T> matrix = generate<T>(kind, {rows, 1, cols}, MetricKind::euclidean, seed).base;
  if constexpr (std::is_floating_point_v<T>) {
    const T values[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                        -std::numeric_limits<T>::infinity(), T{0}, T{-0.0}};
    Random random(seed);
    for (std::int64_t i = 0; specials && i < rows * cols; ++i) {
      if (random.below(3) == 0) matrix.data()[i] = values[random.below(5)];
    }
  }
  return matrix;
}

std::vector<std::int64_t> grid_of_k(std::int64_t cols) {
  std::vector<std::int64_t> grid;
  for (const std::int64_t k : {std::int64_t{1}, std::int64_t{2}, std::int64_t{10}, cols / 3, cols - 1, cols}) {
    if (k >= 1 && k <= cols) grid.push_back(k);
  }
  return grid;
}

TEST(Topk, EqualsSortingEveryRow) {
  std::uint64_t seed = 0;
  for (const DType dtype : all_dtypes()) {
    for (const Kind kind : all_kinds()) {
      for (const std::int64_t cols : {1, 5, 64, 1001}) {
        ++seed;
        with_dtype(dtype, [&]<class T>() {
          const Matrix<T> matrix = rows_of<T>(kind, 5, cols, seed % 3 != 0, seed);
          for (const std::int64_t k : grid_of_k(cols)) {
            for (const bool largest : {false, true}) {
              TopkOptions options;
              options.largest = largest;
              options.threads = 1 + static_cast<int>(seed % 3);
              EXPECT_TRUE(is_topk(topk(matrix.view(), k, options), matrix, k, largest))
                  << kith::to_string(dtype) << ' ' << to_string(kind) << " cols=" << cols << " k=" << k
                  << (largest ? " largest" : " smallest");
            }
          }
        });
      }
    }
  }
}

TEST(Topk, EveryMethodGivesTheSameAnswer) {
  const Matrix<float> matrix = rows_of<float>(Kind::ties, 7, 3000, true, 5);
  for (const SelectMethod name : select_methods(Backend::cpu)) {
    for (const std::int64_t k : {1, 32, 700, 3000}) {
      for (const bool largest : {false, true}) {
        TopkOptions options;
        options.method = name;
        options.largest = largest;
        try {
          EXPECT_TRUE(is_topk(topk(matrix.view(), k, options), matrix, k, largest)) << name << " k=" << k;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
          EXPECT_NE(std::string(error.what()).find(to_string(name)), std::string::npos) << error.what();
          EXPECT_NE(name, SelectMethod::automatic) << error.what();
        }
      }
    }
  }
}

TEST(Topk, NanComesLastForSmallestAndLargest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Matrix<float> matrix(1, 6, {nan, inf, 1, -nan, -inf, 2});
  TopkOptions options;
  EXPECT_EQ(topk(matrix.view(), 6, options).ids, (std::vector<std::int64_t>{4, 2, 5, 1, 0, 3}));
  options.largest = true;
  EXPECT_EQ(topk(matrix.view(), 6, options).ids, (std::vector<std::int64_t>{1, 5, 2, 4, 0, 3}));
}

TEST(Topk, MinusZeroEqualsZero) {
  const Matrix<float> matrix(1, 4, {0.0F, -0.0F, 0.0F, -0.0F});
  for (const bool largest : {false, true}) {
    TopkOptions options;
    options.largest = largest;
    EXPECT_EQ(topk(matrix.view(), 3, options).ids, (std::vector<std::int64_t>{0, 1, 2}));
  }
}

TEST(Topk, OneLongRow) {
  const Matrix<float> matrix = rows_of<float>(Kind::gaussian, 1, 200003, true, 9);
  for (const std::int64_t k : {1, 1000, 100000}) {
    for (const int threads : {1, 3}) {
      TopkOptions options;
      options.largest = true;
      options.threads = threads;
      EXPECT_TRUE(is_topk(topk(matrix.view(), k, options), matrix, k, true)) << "k=" << k;
    }
  }
}

TEST(Topk, DescendingAndAscendingRows) {
  Matrix<float> matrix(2, 5000);
  for (std::int64_t c = 0; c < 5000; ++c) {
    matrix(0, c) = static_cast<float>(5000 - c);
    matrix(1, c) = static_cast<float>(c);
  }
  for (const bool largest : {false, true}) {
    TopkOptions options;
    options.largest = largest;
    EXPECT_TRUE(is_topk(topk(matrix.view(), 77, options), matrix, 77, largest));
  }
}

TEST(Topk, EveryStride) {
  for (const DType dtype : all_dtypes()) {
    with_dtype(dtype, [&]<class T>() {
      const Matrix<T> matrix = rows_of<T>(Kind::ties, 11, 130, false, 2);
      for (const Layout layout : all_layouts()) {
        const Points<T> points(matrix, layout);
        EXPECT_TRUE(is_topk(topk(points.view(), 20, {}), matrix, 20, false))
            << kith::to_string(dtype) << ' ' << to_string(layout);
      }
    });
  }
}

// Unsorted is the same set; among values equal to the k-th it is still the smaller ids that are in it.
TEST(Topk, UnsortedIsTheSameSet) {
  const Matrix<float> matrix = rows_of<float>(Kind::ties, 9, 800, true, 3);
  for (const bool largest : {false, true}) {
    TopkOptions options;
    options.largest = largest;
    const Topk<float> sorted = topk(matrix.view(), 150, options);
    options.output = TopkOutput::unsorted;
    const Topk<float> got = topk(matrix.view(), 150, options);
    ASSERT_EQ(got.k, 150);
    ASSERT_EQ(got.ids.size(), 9U * 150U);
    ASSERT_EQ(got.values.size(), got.ids.size());
    for (std::int64_t i = 0; i < 9; ++i) {
      std::vector<std::int64_t> have(got.ids.begin() + i * 150, got.ids.begin() + (i + 1) * 150);
      std::vector<std::int64_t> want(sorted.ids.begin() + i * 150, sorted.ids.begin() + (i + 1) * 150);
      for (std::size_t j = 0; j < have.size(); ++j) {
        EXPECT_TRUE(same_value(got.values[static_cast<std::size_t>(i) * 150 + j], matrix(i, have[j])));
      }
      std::sort(have.begin(), have.end());
      std::sort(want.begin(), want.end());
      EXPECT_EQ(have, want) << "row " << i;
    }
  }
}

TEST(Topk, ValuesOnlyHasNoIds) {
  const Matrix<double> matrix = rows_of<double>(Kind::gaussian, 6, 300, true, 4);
  TopkOptions options;
  const Topk<double> sorted = topk(matrix.view(), 250, options);
  options.output = TopkOutput::values_only;
  const Topk<double> got = topk(matrix.view(), 250, options);
  EXPECT_EQ(got.rows, 6);
  EXPECT_EQ(got.k, 250);
  EXPECT_TRUE(got.ids.empty());
  ASSERT_EQ(got.values.size(), sorted.values.size());
  for (std::size_t i = 0; i < got.values.size(); ++i) EXPECT_TRUE(same_value(got.values[i], sorted.values[i])) << i;
}

TEST(Topk, KthOnlyIsOneValueARow) {
  const Matrix<float> matrix = rows_of<float>(Kind::gaussian, 6, 300, true, 4);
  for (const std::int64_t k : {1, 100, 300}) {
    TopkOptions options;
    options.largest = true;
    const Topk<float> sorted = topk(matrix.view(), k, options);
    options.output = TopkOutput::kth_only;
    const Topk<float> got = topk(matrix.view(), k, options);
    EXPECT_EQ(got.rows, 6);
    EXPECT_EQ(got.k, 1);
    EXPECT_TRUE(got.ids.empty());
    ASSERT_EQ(got.values.size(), 6U);
    for (std::int64_t i = 0; i < 6; ++i) {
      EXPECT_TRUE(
          same_value(got.values[static_cast<std::size_t>(i)], sorted.values[static_cast<std::size_t>(i * k + k - 1)]));
    }
  }
}

TEST(Topk, RefusesBadArguments) {
  const Matrix<float> matrix(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 0"}, [&] { topk(matrix.view(), 0); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 4", "3"}, [&] { topk(matrix.view(), 4); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = -1"}, [&] { topk(matrix.view(), -1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { topk(MatrixView<float>(), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { topk(MatrixView<float>(nullptr, 2, 3), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {},
                         [&] { topk(MatrixView<float>(matrix.data(), std::int64_t{1} << 62, 4), 1); }));
  TopkOptions options;
  options.method = SelectMethod::radius;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"'radius'"}, [&] { topk(matrix.view(), 1, options); }));
  options.method = SelectMethod::automatic;
  options.threads = -2;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"-2"}, [&] { topk(matrix.view(), 1, options); }));
  options.threads = 0;
  options.memory_budget = -2;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"-2"}, [&] { topk(matrix.view(), 1, options); }));
}

}  // namespace
}  // namespace kith::test
