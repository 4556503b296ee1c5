// Metrics of the user: every way to give one, beside plain loops.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "kith/custom_metric.hpp"
#include "points.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

struct Largest {
  double combine(double x, double y) const { return x * y; }
  double accumulate(double a, double b) const { return a < b ? b : a; }
  static constexpr double identity = -1e300;
};

struct ByCoordinate {
  std::vector<double> weights;
  double combine(double x, double y, std::int64_t c) const {
    return weights[static_cast<std::size_t>(c)] * std::abs(x - y);
  }
  double finish(double sum, std::int64_t dims) const { return sum / static_cast<double>(dims); }
};

struct RatioOfSums {
  std::array<double, 2> combine(double x, double y) const { return {std::abs(x - y), std::abs(x) + std::abs(y)}; }
  double finish(const std::array<double, 2>& sums) const { return sums[0] / (1 + sums[1]); }
};

// A sum beside a maximum.
struct SumAndLargest {
  std::array<double, 2> identity{100, -1};
  std::array<double, 2> combine(double x, double y) const { return {x - y, std::abs(x + y)}; }
  std::array<double, 2> accumulate(const std::array<double, 2>& a, const std::array<double, 2>& b) const {
    return {a[0] + b[0], a[1] < b[1] ? b[1] : a[1]};
  }
  double finish(const std::array<double, 2>& sums, std::int64_t dims) const {
    return sums[0] + sums[1] * static_cast<double>(dims);
  }
};

struct FiveSums {
  std::array<double, 5> combine(double x, double y) const { return {x, y, x * x, y * y, x * y}; }
  double finish(const std::array<double, 5>& s) const { return s[4] - s[0] * s[1] + s[2] * s[3]; }
};

template <Element T, class M, class Loop>
void expect_loop(const M& metric, Loop loop) {
  for (std::int64_t dims = 1; dims <= 40; dims += 3) {
    const Matrix<T> base = random_points<T>(53, dims, 1, -1, 1);
    const Matrix<T> queries = random_points<T>(11, dims, 2, -1, 1);
    const auto found = distances_by(metric, base.view(), queries.view());
    for (std::int64_t q = 0; q < queries.rows(); ++q)
      for (std::int64_t r = 0; r < base.rows(); ++r) {
        const double wanted = loop(row_of(queries, q), row_of(base, r));
        const double tolerance = std::is_same_v<T, double> ? 1e-12 : 1e-6;
        ASSERT_NEAR(static_cast<double>(found(q, r)), wanted, tolerance * std::max(1.0, std::abs(wanted)));
      }
  }
}

template <class T>
class Functors : public testing::Test {};
using Types = testing::Types<float, double, std::uint8_t, BFloat16>;
TYPED_TEST_SUITE(Functors, Types);

TYPED_TEST(Functors, AccumulateAsTheySay) {
  expect_loop<TypeParam>(Largest{}, [](const Row& x, const Row& y) {
    double largest = -1e300;
    for (std::size_t c = 0; c < x.size(); ++c) largest = std::max(largest, x[c] * y[c]);
    return largest;
  });
  ByCoordinate weighted;
  for (int c = 0; c < 64; ++c) weighted.weights.push_back(1.0 + c);
  expect_loop<TypeParam>(weighted, [](const Row& x, const Row& y) {
    double sum = 0;
    for (std::size_t c = 0; c < x.size(); ++c) sum += (1.0 + static_cast<double>(c)) * std::abs(x[c] - y[c]);
    return sum / static_cast<double>(x.size());
  });
}

TYPED_TEST(Functors, HaveSeveralSums) {
  expect_loop<TypeParam>(RatioOfSums{}, [](const Row& x, const Row& y) {
    double above = 0;
    double below = 1;
    for (std::size_t c = 0; c < x.size(); ++c) {
      above += std::abs(x[c] - y[c]);
      below += std::abs(x[c]) + std::abs(y[c]);
    }
    return above / below;
  });
  expect_loop<TypeParam>(SumAndLargest{}, [](const Row& x, const Row& y) {
    double sum = 100;
    double largest = -1;
    for (std::size_t c = 0; c < x.size(); ++c) {
      sum += x[c] - y[c];
      largest = std::max(largest, std::abs(x[c] + y[c]));
    }
    return sum + largest * static_cast<double>(x.size());
  });
  expect_loop<TypeParam>(FiveSums{}, [](const Row& x, const Row& y) {
    double s[5] = {0, 0, 0, 0, 0};
    for (std::size_t c = 0; c < x.size(); ++c) {
      s[0] += x[c];
      s[1] += y[c];
      s[2] += x[c] * x[c];
      s[3] += y[c] * y[c];
      s[4] += x[c] * y[c];
    }
    return s[4] - s[0] * s[1] + s[2] * s[3];
  });
}

// What every instruction set is compiled for gives the same, where nothing is fused.
TEST(Functors, HaveTheSameBitsInAllLoops) {
  const std::int64_t dims = 37;
  const Matrix<double> queries = random_points<double>(8, dims, 1, -1, 1);
  const Matrix<double> panels = random_points<double>(3 * kPanelRows, dims, 2, -1, 1);
  std::vector<double> plain(static_cast<std::size_t>(8 * 3 * kPanelRows));
  std::vector<double> chosen = plain;
  PanelTile tile{queries.data(), 8, panels.data(), 3, dims, plain.data(), 3 * kPanelRows};
  metric_loops::fill_plain(RatioOfSums{}, tile);
  tile.out = chosen.data();
  metric_loops::fill(RatioOfSums{}, tile);
  EXPECT_EQ(plain, chosen);
#if defined(__x86_64__) && !defined(__AVX512F__)
  if (__builtin_cpu_supports("avx2")) {
    metric_loops::fill_avx2(RatioOfSums{}, tile);
    EXPECT_EQ(plain, chosen);
  }
#endif
}

TEST(Functors, MayBeFunctionsOfRows) {
  const auto rows = [](std::span<const float> x, std::span<const float> y) {
    double sum = 0;
    for (std::size_t c = 0; c < x.size(); ++c) sum += static_cast<double>(x[c]) * y[x.size() - 1 - c];
    return sum;
  };
  expect_loop<float>(rows, [](const Row& x, const Row& y) {
    double sum = 0;
    for (std::size_t c = 0; c < x.size(); ++c) sum += x[c] * y[x.size() - 1 - c];
    return sum;
  });
  // Of the points' own type.
  const auto bytes = [](std::span<const std::uint8_t> x, std::span<const std::uint8_t> y) { return x[0] ^ y[0]; };
  const Matrix<std::uint8_t> base(3, 1, {1, 6, 5});
  EXPECT_EQ(search_by(bytes, base.view(), Matrix<std::uint8_t>(1, 1, {4}).view(), 3).ids,
            (std::vector<std::int64_t>{2, 1, 0}));
}

double with_context(const double* x, const double* y, std::int64_t dims, void* context) {
  auto* calls = static_cast<std::atomic<int>*>(context);
  if (calls != nullptr) ++*calls;
  double sum = 0;
  for (std::int64_t c = 0; c < dims; ++c) sum += std::abs(x[c] - y[c]) * static_cast<double>(c + 1);
  return sum;
}

TEST(Functors, MayBeFunctionsOfC) {
  const auto loop = [](const Row& x, const Row& y) {
    double sum = 0;
    for (std::size_t c = 0; c < x.size(); ++c) sum += std::abs(x[c] - y[c]) * static_cast<double>(c + 1);
    return sum;
  };
  expect_loop<double>(&with_context, loop);
  expect_loop<std::int8_t>(PairFunction{with_context}, loop);
  std::atomic<int> calls = 0;
  const auto metric = std::make_shared<FunctionMetric>(with_context, &calls, 1);
  const Matrix<Float16> base = random_points<Float16>(100, 3, 1, -1, 1);
  Options options;
  options.threads = 4;
  const auto found = search_by(std::shared_ptr<const PairMetric>(metric), base.view(), base.view(), 2, options);
  EXPECT_EQ(calls, 10000);
  EXPECT_EQ(found.report.plan.threads, 1);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"null pointer"}, [] { FunctionMetric{nullptr}; }));
}

TEST(Functors, ServeManySearchesOfAnIndex) {
  const Matrix<float> base = random_points<float>(500, 6, 1, -1, 1);
  const CustomIndex<float, RatioOfSums> index(RatioOfSums{}, base.view());
  for (std::uint64_t seed = 2; seed < 6; ++seed) {
    const Matrix<float> queries = random_points<float>(9, 6, seed, -1, 1);
    EXPECT_EQ(index.search(queries.view(), 7).ids, search_by(RatioOfSums{}, base.view(), queries.view(), 7).ids);
  }
  EXPECT_EQ(index.search_self(7).ids, search_self_by(RatioOfSums{}, base.view(), 7).ids);
  EXPECT_EQ(index.distances(base.view()).rows(), 500);
}

}  // namespace
}  // namespace kith::test
