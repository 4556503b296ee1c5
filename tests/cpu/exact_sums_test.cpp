// The SIMD sums must equal core::raw_sum bit for bit: ids and returned distances depend on it.
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "core/elements.hpp"
#include "core/key.hpp"
#include "cpu/simd/kernels.hpp"
#include "simd_targets.hpp"

namespace kith::cpu {
namespace {

constexpr core::Form kForms[] = {core::Form::squared,  core::Form::absolute, core::Form::maximum, core::Form::power,
                                 core::Form::mismatch, core::Form::ratio,    core::Form::dot};

// Values whose sums round differently in every other order of summation.
template <class T>
std::vector<T> rough_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (core::kIsFloating<T>) {
      const double magnitude = std::exp2(static_cast<double>(random() % 40) - 20);
      value = static_cast<T>((static_cast<double>(random()) / 4294967296.0 - 0.5) * magnitude);
    } else {
      value = static_cast<T>(random());
    }
  }
  return values;
}

template <class T>
void expect_same_bits(std::int64_t dims, std::int64_t col_stride, bool means) {
  constexpr std::int64_t kRows = 11;
  const std::int64_t row_stride = dims * col_stride + 3;
  const std::vector<T> base = rough_values<T>(static_cast<std::size_t>(kRows * row_stride), 1);
  const std::vector<double> query = rough_values<double>(static_cast<std::size_t>(dims), 2);
  std::vector<double> mean(kRows);
  std::iota(mean.begin(), mean.end(), 0.1);
  const ExactBase<T> view{base.data(), row_stride, col_stride, dims, means ? mean.data() : nullptr};
  const std::vector<std::int64_t> ids{3, 0, 10, 7, 7, 1, 2};
  for (const core::Form form : kForms) {
    if (means && form != core::Form::dot) continue;
    std::vector<double> raw(ids.size());
    exact_sums(form, 2.5, query.data(), view, ids.data(), static_cast<std::int64_t>(ids.size()), raw.data());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const T* row = base.data() + ids[i] * row_stride;
      const double expected = core::raw_sum(form, 2.5, query.data(), 1, 0.0, row, col_stride,
                                            means ? mean[static_cast<std::size_t>(ids[i])] : 0.0, dims);
      ASSERT_EQ(std::memcmp(&raw[i], &expected, sizeof expected), 0)
          << "form " << static_cast<int>(form) << ", dims " << dims << ": " << raw[i] << " is not " << expected;
    }
  }
}

// Every pair of values whose sums overflow, whose differences are subnormal, or that are zeros of either sign.
template <class T>
void expect_same_ratios_of_extremes() {
  using Limits = std::numeric_limits<T>;
  const T values[] = {Limits::max(),
                      -Limits::max(),
                      Limits::max() / 3,
                      Limits::min(),
                      Limits::denorm_min(),
                      T{1},
                      3 * Limits::denorm_min(),
                      T{-3},
                      T{0},
                      -T{0}};
  std::vector<double> x;
  std::vector<T> y;
  for (const T a : values)
    for (const T b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  const auto dims = static_cast<std::int64_t>(x.size());
  const ExactBase<T> view{y.data(), dims, 1, dims, nullptr};
  const std::int64_t id = 0;
  double raw = 0;
  exact_sums(core::Form::ratio, 0, x.data(), view, &id, 1, &raw);
  EXPECT_EQ(raw, core::raw_sum(core::Form::ratio, 0, x.data(), 1, 0.0, y.data(), 1, 0.0, dims));
}

TEST(ExactSums, RatiosAreThoseOfTheKeyAtTheEndsOfTheRange) {
  test::on_every_target([] {
    expect_same_ratios_of_extremes<float>();
    expect_same_ratios_of_extremes<double>();
  });
}

TEST(ExactSums, EqualTheScalarKeyBitForBit) {
  test::on_every_target([] {
    for (const std::int64_t dims : {1, 2, 7, 8, 9, 15, 16, 17, 31, 64, 100, 257})
      for (const std::int64_t stride : {1, 2}) {
        expect_same_bits<float>(dims, stride, false);
        expect_same_bits<double>(dims, stride, false);
        expect_same_bits<std::uint8_t>(dims, stride, false);
        expect_same_bits<std::int8_t>(dims, stride, false);
        expect_same_bits<Float16>(dims, stride, false);
        expect_same_bits<BFloat16>(dims, stride, false);
        expect_same_bits<float>(dims, stride, true);
        expect_same_bits<Float16>(dims, stride, true);
      }
  });
}

TEST(ExactPanelSums, EqualTheScalarKeyBitForBit) {
  test::on_every_target([] {
    constexpr std::int64_t kRows = 67;
    constexpr std::int64_t kStride = 128;
    constexpr std::int64_t kQueries = 5;
    for (const std::int64_t dims : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 100}) {
      const std::vector<double> base = rough_values<double>(static_cast<std::size_t>(kRows * dims), 1);
      const std::vector<double> queries = rough_values<double>(static_cast<std::size_t>(kQueries * dims), 2);
      std::vector<double> panels(static_cast<std::size_t>(kStride * dims));
      pack_panels(Rows<double>{base.data(), kRows, dims}, dims, panels.data());
      for (const core::Form form : kForms) {
        if (form == core::Form::power) continue;
        std::vector<double> raw(static_cast<std::size_t>(kQueries * kStride));
        exact_panel_sums(form, {queries.data(), kQueries, dims}, panels.data(), kRows, dims, raw.data(), kStride);
        for (std::int64_t q = 0; q < kQueries; ++q)
          for (std::int64_t r = 0; r < kRows; ++r) {
            const double expected =
                core::raw_sum(form, 0, queries.data() + q * dims, 1, 0.0, base.data() + r * dims, 1, 0.0, dims);
            const double got = raw[static_cast<std::size_t>(q * kStride + r)];
            ASSERT_EQ(std::memcmp(&got, &expected, sizeof expected), 0)
                << "form " << static_cast<int>(form) << ", dims " << dims << ": " << got << " is not " << expected;
          }
      }
    }
  });
}

}  // namespace
}  // namespace kith::cpu
