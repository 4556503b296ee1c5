// topk() on the backends for devices: what the CPU returns, bit for bit, within any budget.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "kith/topk.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

std::vector<Backend> device_backends() {
  std::vector<Backend> found = available_backends();
  std::erase(found, Backend::cpu);
  return found;
}

// NaN of both signs with payloads, infinities, zeros of both signs, ties.
template <Element T>
Matrix<T> make_rows(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  Matrix<T> matrix = generate<T>(Kind::ties, {rows, 1, cols}, MetricKind::euclidean, seed).base;
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const auto nan = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
    const T inf = std::numeric_limits<T>::infinity();
    const T specials[] = {std::bit_cast<T>(nan + 77), -std::bit_cast<T>(nan + 5), inf, -inf, T{0}, T{-0.0}};
    Random random(seed);
    for (std::int64_t i = 0; i < rows * cols; ++i)
      if (random.below(4) == 0) matrix.data()[i] = specials[random.below(6)];
  }
  return matrix;
}

// Rows in ascending order of id: what unsorted answers can be compared in.
template <Element T>
void sort_by_id(Topk<T>& top) {
  for (std::int64_t row = 0; row < top.rows; ++row) {
    const auto first = static_cast<std::size_t>(row * top.k);
    std::vector<std::size_t> order(static_cast<std::size_t>(top.k));
    std::iota(order.begin(), order.end(), first);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return top.ids[a] < top.ids[b]; });
    const Topk<T> before = top;
    for (std::size_t i = 0; i < order.size(); ++i) {
      top.ids[first + i] = before.ids[order[i]];
      top.values[first + i] = before.values[order[i]];
    }
  }
}

template <Element T>
testing::AssertionResult same_topk(Topk<T> got, Topk<T> want, TopkOutput form) {
  if (got.rows != want.rows || got.k != want.k || got.values.size() != want.values.size() ||
      got.ids.size() != want.ids.size())
    return testing::AssertionFailure() << "wrong shape";
  if (form == TopkOutput::unsorted) {
    sort_by_id(got);
    sort_by_id(want);
  }
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const bool same_id = got.ids.empty() || got.ids[i] == want.ids[i];
    if (same_id && std::memcmp(&got.values[i], &want.values[i], sizeof(T)) == 0) continue;
    return testing::AssertionFailure() << "at " << i << ": " << +got.values[i] << " instead of " << +want.values[i]
                                       << (same_id ? "" : ", and another id");
  }
  return testing::AssertionSuccess();
}

template <Element T>
testing::AssertionResult agrees_with_cpu(MatrixView<T> matrix, std::int64_t k, TopkOptions options) {
  const Topk<T> got = topk(matrix, k, options);
  options.backend = Backend::cpu;
  options.method = SelectMethod::automatic;
  options.memory_budget = 0;
  options.progress = nullptr;
  return same_topk(got, topk(matrix, k, options), options.output);
}

class TopkBackends : public testing::Test {
 protected:
  void SetUp() override {
    if (device_backends().empty()) GTEST_SKIP() << "the CPU is the only backend here";
  }
};

TEST_F(TopkBackends, EveryFormOfEveryType) {
  for (const DType dtype : all_dtypes()) {
    with_dtype(dtype, [&]<class T>() {
      const Matrix<T> matrix = make_rows<T>(7, 300, 3);
      for (const TopkOutput form :
           {TopkOutput::sorted, TopkOutput::unsorted, TopkOutput::values_only, TopkOutput::kth_only}) {
        for (const bool largest : {false, true}) {
          for (const std::int64_t k : {1, 20, 299}) {
            TopkOptions options;
            options.output = form;
            options.largest = largest;
            for (const Backend backend : device_backends()) {
              options.backend = backend;
              EXPECT_TRUE(agrees_with_cpu(matrix.view(), k, options))
                  << to_string(backend) << ' ' << kith::to_string(dtype) << " form " << static_cast<int>(form)
                  << " k=" << k << (largest ? " largest" : " smallest");
            }
          }
        }
      }
    });
  }
}

TEST_F(TopkBackends, EveryMethod) {
  const Matrix<float> matrix = make_rows<float>(5, 150, 8);
  for (const Backend backend : device_backends()) {
    for (const SelectMethod name : select_methods(backend)) {
      TopkOptions options;
      options.backend = backend;
      options.method = name;
      EXPECT_TRUE(agrees_with_cpu(matrix.view(), 12, options)) << to_string(backend) << ' ' << name;
    }
  }
}

// The methods with a limit say it, and their name.
TEST_F(TopkBackends, AKTooLargeForAMethod) {
  const Matrix<float> matrix = make_rows<float>(2, 3000, 8);
  for (const Backend backend : device_backends()) {
    for (const SelectMethod method :
         {SelectMethod::warp_select, SelectMethod::block_select, SelectMethod::partial_bitonic}) {
      TopkOptions options;
      options.backend = backend;
      options.method = method;
      EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {to_string(method), "3000"},
                             [&] { topk(matrix.view(), 3000, options); }));
    }
  }
}

TEST_F(TopkBackends, EveryLayoutOfEveryType) {
  for (const DType dtype : all_dtypes()) {
    with_dtype(dtype, [&]<class T>() {
      const Matrix<T> matrix = make_rows<T>(11, 130, 2);
      for (const Layout layout : all_layouts()) {
        const Points<T> points(matrix, layout);
        for (const Backend backend : device_backends()) {
          TopkOptions options;
          options.backend = backend;
          EXPECT_TRUE(agrees_with_cpu(points.view(), 20, options))
              << to_string(backend) << ' ' << kith::to_string(dtype) << ' ' << to_string(layout);
        }
      }
    });
  }
}

// Rows longer than a pinned buffer, which arrive in pieces, and answers that leave so.
TEST_F(TopkBackends, RowsLongerThanAPinnedBuffer) {
  const std::int64_t cols = (9 << 20) / 4;
  Matrix<float> matrix(1, cols);
  for (std::int64_t i = 0; i < cols; ++i) matrix(0, i) = static_cast<float>((i * 7919) % cols);
  for (const Backend backend : device_backends()) {
    TopkOptions options;
    options.backend = backend;
    EXPECT_TRUE(agrees_with_cpu(matrix.view(), 3, options)) << to_string(backend);
  }
}

TEST_F(TopkBackends, AnyBudgetThatHasRoomForARow) {
  const Matrix<float> matrix = make_rows<float>(37, 2000, 6);
  for (const Backend backend : device_backends()) {
    std::int64_t calls_before = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t budget : {std::int64_t{60} << 10, std::int64_t{200} << 10, std::int64_t{10} << 20}) {
      std::int64_t calls = 0;
      std::int64_t done = 0;
      TopkOptions options;
      options.backend = backend;
      options.memory_budget = budget;
      options.progress = [&](const Progress& progress) {
        EXPECT_GT(progress.done, done);
        EXPECT_EQ(progress.total, 37 * 2000);
        done = progress.done;
        ++calls;
        return true;
      };
      EXPECT_TRUE(agrees_with_cpu(matrix.view(), 50, options)) << to_string(backend) << " budget " << budget;
      EXPECT_EQ(done, 37 * 2000);
      EXPECT_LT(calls, calls_before) << "a larger budget makes larger tiles";
      calls_before = calls;
    }
    EXPECT_EQ(calls_before, 1);
  }
}

TEST_F(TopkBackends, ABudgetTooSmallForARow) {
  const Matrix<float> matrix = make_rows<float>(3, 2000, 6);
  for (const Backend backend : device_backends()) {
    for (const std::int64_t budget : {1, 8500}) {
      TopkOptions options;
      options.backend = backend;
      options.memory_budget = budget;
      EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {std::to_string(budget), "one row of 2000", "k = 50"}, [&] {
        topk(matrix.view(), 50, options);
      })) << to_string(backend);
    }
  }
}

TEST_F(TopkBackends, TheCallbackStopsIt) {
  const Matrix<float> matrix = make_rows<float>(37, 2000, 6);
  for (const Backend backend : device_backends()) {
    TopkOptions options;
    options.backend = backend;
    options.memory_budget = 200 << 10;
    int calls = 0;
    options.progress = [&](const Progress&) { return ++calls < 2; };
    EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, [&] { topk(matrix.view(), 9, options); }));
    EXPECT_EQ(calls, 2);
    // Not to be taken for the backend's own.
    options.progress = [](const Progress&) -> bool { throw Error(ErrorCode::out_of_memory, "mine"); };
    EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"mine"}, [&] { topk(matrix.view(), 9, options); }));
    options.progress = nullptr;
    EXPECT_TRUE(agrees_with_cpu(matrix.view(), 9, options));
  }
}

TEST_F(TopkBackends, RowsTooLongForADevice) {
  const float value = 0;
  const MatrixView<float> matrix(&value, 1, std::int64_t{1} << 31);
  for (const Backend backend : device_backends()) {
    TopkOptions options;
    options.backend = backend;
    EXPECT_TRUE(
        fails_with(ErrorCode::invalid_argument, {"2147483648", "2147483647"}, [&] { topk(matrix, 1, options); }));
  }
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
