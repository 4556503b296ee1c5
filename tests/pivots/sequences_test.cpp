// Time warping and earth mover's distance beside their definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "brute.hpp"
#include "kith/error.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The whole table.
double warped(const TimeSeries& a, const TimeSeries& b, std::int64_t window) {
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(a.steps()),
                                        std::vector<double>(static_cast<std::size_t>(b.steps()), kInfinity));
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return i < 0 || j < 0 ? kInfinity : sums[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  };
  for (std::int64_t i = 0; i < a.steps(); ++i)
    for (std::int64_t j = 0; j < b.steps(); ++j) {
      if (window >= 0 && std::abs(i - j) > window) continue;
      double step = 0;
      for (std::int64_t d = 0; d < a.dims(); ++d) step += (a.step(i)[d] - b.step(j)[d]) * (a.step(i)[d] - b.step(j)[d]);
      const double from = i == 0 && j == 0 ? 0 : std::min({at(i - 1, j), at(i, j - 1), at(i - 1, j - 1)});
      sums[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = from + step;
    }
  return std::sqrt(sums.back().back());
}

TimeSeries random_series(Random& random, std::int64_t steps, std::int64_t dims) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < steps * dims; ++i) values.push_back(random.gaussian());
  return TimeSeries(values, dims);
}

TEST(TimeWarping, BesideTheTable) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const std::int64_t dims = 1 + random.below(3);
    const TimeSeries a = random_series(random, 1 + random.below(30), dims);
    const TimeSeries b = random_series(random, 1 + random.below(30), dims);
    for (const std::int64_t window : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, std::int64_t{5},
                                      std::int64_t{29}, std::numeric_limits<std::int64_t>::max()}) {
      const double want = warped(a, b, window);
      ASSERT_EQ(dynamic_time_warping(a, b, window), want) << "window " << window;
      for (const double bound : {0.0, want / 2, want, want * 2, std::nextafter(want, 0.0)}) {
        const double found = dynamic_time_warping(a, b, window, bound);
        if (want <= bound) {
          ASSERT_EQ(found, want) << "bound " << bound;
        } else {
          ASSERT_GT(found, bound);
        }
      }
      double lower = -1;
      dynamic_time_warping_lower_bounds(a, std::span<const TimeSeries>(&b, 1), window, &lower);
      ASSERT_LE(lower, want * (1 + 1e-12)) << "window " << window;
    }
  }
}

TEST(TimeWarping, WindowZeroIsEuclidean) {
  const TimeSeries a({0, 0, 0});
  const TimeSeries b({1, 2, 2});
  EXPECT_EQ(dynamic_time_warping(a, b, 0), 3);
  double lower = 0;
  dynamic_time_warping_lower_bounds(a, std::span<const TimeSeries>(&b, 1), 0, &lower);
  EXPECT_EQ(lower, 3);  // as tight as it can be
  EXPECT_EQ(dynamic_time_warping(a, TimeSeries({0, 0, 0, 0}), 0), kInfinity);
  EXPECT_EQ(dynamic_time_warping(a, TimeSeries({0, 0, 0, 0}), 1), 0);
}

TEST(TimeWarping, Arguments) {
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"0 steps"}, [] { TimeSeries({}); }));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"3 numbers", "2 dimensions"}, [] { TimeSeries({1, 2, 3}, 2); }));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"0 dimensions"}, [] { TimeSeries({1, 2, 3}, 0); }));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"step 1", "nan"}, [] { TimeSeries({1, 2, NAN, 3}, 2); }));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"step 0", "inf"}, [] { TimeSeries({kInfinity}); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"2 dimensions", "one of 1"}, [] {
    dynamic_time_warping(TimeSeries({1, 2}, 2), TimeSeries({1, 2}));
  }));
}

// By the inverse: both samples repeated to one length, sorted and matched in order.
double matched(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> a;
  std::vector<double> b;
  for (const double value : x) a.insert(a.end(), y.size(), value);
  for (const double value : y) b.insert(b.end(), x.size(), value);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

TEST(EarthMover, BesideMatching) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const auto sample = [&] {
      std::vector<double> values;
      for (std::int64_t i = 1 + random.below(12); i > 0; --i)
        values.push_back(random.below(3) == 0 ? static_cast<double>(random.below(3)) : random.gaussian());
      return values;
    };
    const auto x = sample();
    const auto y = sample();
    const double want = matched(x, y);
    const WeightedSample a(x);
    const WeightedSample b(y);
    const double found = earth_movers_distance(a, b);
    ASSERT_NEAR(found, want, 1e-12 * (1 + want));
    ASSERT_EQ(earth_movers_distance(b, a), found);
    ASSERT_EQ(earth_movers_distance(a, a), 0);
    ASSERT_EQ(earth_movers_distance(a, b, found), found);
    if (found > 0) {
      ASSERT_GT(earth_movers_distance(a, b, found / 2), found / 2);
    }
  }
}

TEST(EarthMover, WeightsAndHistograms) {
  // Three tenths from 0 to 2, one tenth from 1 to 2.
  const WeightedSample a({0, 1, 2}, {3, 2, 5});
  const WeightedSample b({2, 1}, {9, 1});
  EXPECT_NEAR(earth_movers_distance(a, b), 0.7, 1e-15);
  EXPECT_EQ(earth_movers_distance(a, WeightedSample::histogram({3, 2, 5, 0})), 0);
  EXPECT_EQ(earth_movers_distance(WeightedSample::histogram({1, 0, 0, 0}), WeightedSample::histogram({0, 0, 0, 7})), 3);
  // Values without a weight, and repeated ones, do not matter.
  EXPECT_EQ(earth_movers_distance(a, WeightedSample({0, 2, 0, 1, 2, 9}, {1, 4, 2, 2, 1, 0})), 0);
}

TEST(EarthMover, Arguments) {
  const auto refuses = [](std::vector<double> values, std::vector<double> weights, const std::string& why) {
    return fails_with(ErrorCode::bad_data, {why}, [&] { WeightedSample(values, weights); });
  };
  EXPECT_TRUE(refuses({}, {}, "0 values"));
  EXPECT_TRUE(refuses({1, 2}, {1}, "2 values but 1 weights"));
  EXPECT_TRUE(refuses({1, NAN}, {1, 1}, "value 1 is nan"));
  EXPECT_TRUE(refuses({1, 2}, {1, -1}, "weight 1 is -1"));
  EXPECT_TRUE(refuses({1, 2}, {0, 0}, "all 2 weights are 0"));
}

}  // namespace
}  // namespace kith::test
