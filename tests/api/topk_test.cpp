// topk(): the k smallest or largest of each row, against sorting whole rows, on every backend and within any budget.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "kith/topk.hpp"
#include "support/compare.hpp"
#include "support/on_backend.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

template <Element T>
bool is_nan(T value) {
  return value != value;
}

// The first k ids of a row in the order of topk: by value, NaN last either way, the smaller id first among equals.
template <Element T>
std::vector<std::int64_t> first_ids(const T* row, std::int64_t cols, std::int64_t k, bool largest) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(cols));
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](std::int64_t a, std::int64_t b) {
    if (is_nan(row[a]) || is_nan(row[b])) return !is_nan(row[a]) && is_nan(row[b]);
    return largest ? row[a] > row[b] : row[a] < row[b];
  });
  ids.resize(static_cast<std::size_t>(k));
  return ids;
}

// What topk() must give, the values with the bits they have in the matrix. Unsorted rows are in the order of their ids.
template <Element T>
Topk<T> right_topk(const Matrix<T>& matrix, std::int64_t k, const TopkOptions& options) {
  const bool kth = options.output == TopkOutput::kth_only;
  Topk<T> right;
  right.rows = matrix.rows();
  right.k = kth ? 1 : k;
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    std::vector<std::int64_t> ids = first_ids(matrix.row(i), matrix.cols(), k, options.largest);
    if (kth) ids = {ids.back()};
    if (options.output == TopkOutput::unsorted) std::sort(ids.begin(), ids.end());
    for (const std::int64_t id : ids) right.values.push_back(matrix(i, id));
    if (kth || options.output == TopkOutput::values_only) continue;
    right.ids.insert(right.ids.end(), ids.begin(), ids.end());
  }
  return right;
}

template <Element T>
void sort_by_id(Topk<T>& top) {
  const Topk<T> before = top;
  for (std::int64_t row = 0; row < top.rows; ++row) {
    const auto first = static_cast<std::size_t>(row * top.k);
    std::vector<std::size_t> order(static_cast<std::size_t>(top.k));
    std::iota(order.begin(), order.end(), first);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return before.ids[a] < before.ids[b]; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      top.ids[first + i] = before.ids[order[i]];
      top.values[first + i] = before.values[order[i]];
    }
  }
}

// The topk of a view of the matrix.
template <Element T>
testing::AssertionResult gives_topk(MatrixView<T> view, const Matrix<T>& matrix, std::int64_t k,
                                    const TopkOptions& options) {
  Topk<T> got = topk(view, k, options);
  const Topk<T> right = right_topk(matrix, k, options);
  if (got.rows != right.rows || got.k != right.k || got.ids.size() != right.ids.size() ||
      got.values.size() != right.values.size())
    return testing::AssertionFailure() << "wrong shape: " << got.rows << " x " << got.k << ", " << got.ids.size()
                                       << " ids, " << got.values.size() << " values";
  if (options.output == TopkOutput::unsorted) sort_by_id(got);
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const bool same_id = got.ids.empty() || got.ids[i] == right.ids[i];
    if (same_id && std::memcmp(&got.values[i], &right.values[i], sizeof(T)) == 0) continue;
    return testing::AssertionFailure() << to_string(options.backend) << ' ' << to_string(options.method)
                                       << (options.largest ? " largest" : " smallest") << ", form "
                                       << static_cast<int>(options.output) << ", k = " << k << ", at " << i << ": "
                                       << +got.values[i] << " instead of " << +right.values[i]
                                       << (same_id ? "" : ", and another id");
  }
  return testing::AssertionSuccess();
}

template <Element T>
testing::AssertionResult gives_topk(const Matrix<T>& matrix, std::int64_t k, const TopkOptions& options) {
  return gives_topk(matrix.view(), matrix, k, options);
}

// NaN of both signs with payloads, infinities and zeros of both signs among values of a kind.
template <Element T>
Matrix<T> rows_of(Kind kind, std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  Matrix<T> matrix = generate<T>(kind, {rows, 1, cols}, MetricKind::euclidean, seed).base;
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const auto nan = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
    const T inf = std::numeric_limits<T>::infinity();
    const T specials[] = {std::bit_cast<T>(nan + 77), -std::bit_cast<T>(nan + 5), inf, -inf, T{0}, T{-0.0}};
    Random random(seed);
    for (std::int64_t i = 0; seed % 3 != 0 && i < rows * cols; ++i)
      if (random.below(4) == 0) matrix.data()[i] = specials[random.below(6)];
  }
  return matrix;
}

class TopkOn : public OnBackend {
 protected:
  static TopkOptions options(bool largest = false, SelectMethod method = SelectMethod::automatic) {
    TopkOptions options;
    options.backend = GetParam();
    options.largest = largest;
    options.method = method;
    return options;
  }
};

// The emulator gets few rows.
TEST_P(TopkOn, EveryFormOfEveryType) {
  std::uint64_t seed = 0;
  for (const DType dtype : all_dtypes()) {
    for (const Kind kind : is_cpu() ? all_kinds() : std::vector{Kind::ties}) {
      for (const std::int64_t cols :
           is_cpu() ? std::vector<std::int64_t>{1, 5, 64, 1001} : std::vector<std::int64_t>{300}) {
        ++seed;
        with_dtype(dtype, [&]<class T>() {
          const Matrix<T> matrix = rows_of<T>(kind, 5, cols, seed);
          for (const TopkOutput form :
               {TopkOutput::sorted, TopkOutput::unsorted, TopkOutput::values_only, TopkOutput::kth_only}) {
            for (const std::int64_t wanted :
                 {std::int64_t{1}, std::int64_t{2}, std::int64_t{20}, cols / 3, cols - 1, cols}) {
              const std::int64_t k = std::clamp<std::int64_t>(wanted, 1, cols);
              for (const bool largest : {false, true}) {
                TopkOptions asked = options(largest);
                asked.output = form;
                asked.threads = 1 + static_cast<int>(seed % 3);
                EXPECT_TRUE(gives_topk(matrix, k, asked))
                    << kith::to_string(dtype) << ' ' << to_string(kind) << " cols=" << cols;
              }
            }
          }
        });
      }
    }
  }
}

// Those with a limit say it, and their name.
TEST_P(TopkOn, EveryMethodGivesTheSameAnswer) {
  const std::int64_t cols = is_cpu() ? 3000 : 150;
  const Matrix<float> matrix = rows_of<float>(Kind::ties, 5, cols, 5);
  for (const SelectMethod method : select_methods(GetParam())) {
    for (const std::int64_t k : {std::int64_t{1}, std::int64_t{12}, cols / 4, cols}) {
      for (const bool largest : {false, true}) {
        try {
          EXPECT_TRUE(gives_topk(matrix, k, options(largest, method)));
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
          EXPECT_NE(std::string(error.what()).find(to_string(method)), std::string::npos) << error.what();
          EXPECT_TRUE(method != SelectMethod::automatic && k > 12) << error.what();
        }
      }
    }
  }
}

TEST_P(TopkOn, NanComesLastForSmallestAndLargest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Matrix<float> matrix(1, 6, {nan, inf, 1, -nan, -inf, 2});
  EXPECT_EQ(topk(matrix.view(), 6, options()).ids, (std::vector<std::int64_t>{4, 2, 5, 1, 0, 3}));
  EXPECT_EQ(topk(matrix.view(), 6, options(true)).ids, (std::vector<std::int64_t>{1, 5, 2, 4, 0, 3}));
}

TEST_P(TopkOn, MinusZeroEqualsZero) {
  const Matrix<float> matrix(1, 4, {0.0F, -0.0F, 0.0F, -0.0F});
  for (const bool largest : {false, true})
    EXPECT_EQ(topk(matrix.view(), 3, options(largest)).ids, (std::vector<std::int64_t>{0, 1, 2}));
}

// On a device longer than a pinned buffer: it arrives in pieces.
TEST_P(TopkOn, OneLongRow) {
  const Matrix<float> matrix = rows_of<float>(Kind::gaussian, 1, is_cpu() ? 200003 : (9 << 20) / 4, 10);
  for (const std::int64_t k : is_cpu() ? std::vector<std::int64_t>{1, 1000, 100000} : std::vector<std::int64_t>{3}) {
    for (const int threads : {1, 3}) {
      TopkOptions asked = options(true);
      asked.threads = threads;
      EXPECT_TRUE(gives_topk(matrix, k, asked)) << threads << " threads";
      if (!is_cpu()) break;
    }
  }
}

TEST_P(TopkOn, DescendingAndAscendingRows) {
  Matrix<float> matrix(2, 5000);
  for (std::int64_t c = 0; c < 5000; ++c) {
    matrix(0, c) = static_cast<float>(5000 - c);
    matrix(1, c) = static_cast<float>(c);
  }
  for (const bool largest : {false, true}) EXPECT_TRUE(gives_topk(matrix, 77, options(largest)));
}

TEST_P(TopkOn, EveryLayoutOfEveryType) {
  for (const DType dtype : all_dtypes()) {
    with_dtype(dtype, [&]<class T>() {
      const Matrix<T> matrix = rows_of<T>(Kind::ties, 11, 130, 2);
      for (const Layout layout : all_layouts()) {
        const Points<T> points(matrix, layout);
        EXPECT_TRUE(gives_topk(points.view(), matrix, 20, options()))
            << kith::to_string(dtype) << ' ' << to_string(layout);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, TopkOn, testing::ValuesIn(available_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });

class TopkOnDevice : public TopkOn {};

TEST_P(TopkOnDevice, AKTooLargeForAMethodIsNamed) {
  const Matrix<float> matrix = rows_of<float>(Kind::ties, 2, 3000, 8);
  for (const SelectMethod method :
       {SelectMethod::warp_select, SelectMethod::block_select, SelectMethod::partial_bitonic})
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {to_string(method), "3000"},
                           [&] { topk(matrix.view(), 3000, options(false, method)); }));
}

TEST_P(TopkOnDevice, AnyBudgetThatHasRoomForARow) {
  const Matrix<float> matrix = rows_of<float>(Kind::ties, 37, 2000, 7);
  std::int64_t calls_before = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t budget : {60 << 10, 200 << 10, 10 << 20}) {
    std::int64_t calls = 0;
    std::int64_t done = 0;
    TopkOptions asked = options();
    asked.memory_budget = budget;
    asked.progress = [&](const Progress& progress) {
      EXPECT_GT(progress.done, done);
      EXPECT_EQ(progress.total, 37 * 2000);
      done = progress.done;
      ++calls;
      return true;
    };
    EXPECT_TRUE(gives_topk(matrix, 50, asked)) << "budget " << budget;
    EXPECT_EQ(done, 37 * 2000);
    EXPECT_LT(calls, calls_before) << "a larger budget makes larger tiles";
    calls_before = calls;
  }
  EXPECT_EQ(calls_before, 1);
}

TEST_P(TopkOnDevice, ABudgetTooSmallForARow) {
  const Matrix<float> matrix = rows_of<float>(Kind::ties, 3, 2000, 7);
  for (const std::int64_t budget : {1, 8500}) {
    TopkOptions asked = options();
    asked.memory_budget = budget;
    EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {std::to_string(budget), "one row of 2000", "k = 50"},
                           [&] { topk(matrix.view(), 50, asked); }));
  }
}

TEST_P(TopkOnDevice, TheCallbackStopsIt) {
  const Matrix<float> matrix = rows_of<float>(Kind::ties, 37, 2000, 7);
  TopkOptions asked = options();
  asked.memory_budget = 200 << 10;
  int calls = 0;
  asked.progress = [&](const Progress&) { return ++calls < 2; };
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, [&] { topk(matrix.view(), 9, asked); }));
  EXPECT_EQ(calls, 2);
  // Not to be taken for the backend's own.
  asked.progress = [](const Progress&) -> bool { throw Error(ErrorCode::out_of_memory, "mine"); };
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"mine"}, [&] { topk(matrix.view(), 9, asked); }));
  asked.progress = nullptr;
  EXPECT_TRUE(gives_topk(matrix, 9, asked));
}

TEST_P(TopkOnDevice, RowsTooLongForADevice) {
  const float value = 0;
  const MatrixView<float> matrix(&value, 1, std::int64_t{1} << 31);
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"2147483648", "2147483647"}, [&] { topk(matrix, 1, options()); }));
}

INSTANTIATE_TEST_SUITE_P(Backends, TopkOnDevice, testing::ValuesIn(device_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TopkOnDevice);

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

TEST(TopkTuning, BadValuesAreNamed) {
  const Matrix<float> matrix(2, 3, {1, 2, 3, 4, 5, 6});
  const auto refuses = [&](const std::vector<std::string>& mentions, auto change) {
    TopkOptions options;
    change(options.tuning);
    return fails_with(ErrorCode::invalid_argument, mentions, [&] { topk(matrix.view(), 1, options); });
  };
  EXPECT_TRUE(refuses({"hierarchical = -2"}, [](SelectTuning& tuning) { tuning.hierarchical = -2; }));
  EXPECT_TRUE(refuses({"hierarchical = 3"}, [](SelectTuning& tuning) { tuning.hierarchical = 3; }));
  EXPECT_TRUE(refuses({"merge_size = -1"}, [](SelectTuning& tuning) { tuning.merge_size = -1; }));
  EXPECT_TRUE(refuses({"merge_size = 6"}, [](SelectTuning& tuning) { tuning.merge_size = 6; }));
  EXPECT_TRUE(refuses({"buffer_size = -7"}, [](SelectTuning& tuning) { tuning.buffer_size = -7; }));
  EXPECT_TRUE(refuses({"thread_queue = -3"}, [](SelectTuning& tuning) { tuning.thread_queue = -3; }));
  EXPECT_TRUE(refuses({"stages = -1"}, [](SelectTuning& tuning) { tuning.stages = -1; }));
  EXPECT_TRUE(refuses({"stages = 3"}, [](SelectTuning& tuning) { tuning.stages = 3; }));
  EXPECT_TRUE(refuses({"partitions = -4"}, [](SelectTuning& tuning) { tuning.partitions = -4; }));
}

TEST(Backends, AutomaticIsNeverEmulated) {
  EXPECT_NE(available_backends().front(), Backend::emulated);
  EXPECT_EQ(select_methods(Backend::automatic), select_methods(available_backends().front()));
}

TEST(Backends, AllHaveSearchStages) {
  for (const Backend backend : {Backend::cpu, Backend::cuda, Backend::emulated}) {
    EXPECT_GT(search_methods(backend).size(), 1U);
    EXPECT_GT(distance_stages(backend).size(), 1U);
  }
}

}  // namespace
}  // namespace kith::test
