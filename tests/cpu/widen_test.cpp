// Points of 8 and 16 bits: as floats, looked through for what is too large, and scored as they are stored.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "cpu/simd/kernels.hpp"
#include "simd_targets.hpp"

namespace kith::cpu {
namespace {

template <class T>
std::vector<T> all_values() {
  std::vector<T> values;
  for (int bits = 0; bits < 1 << 16; ++bits) values.push_back(T::from_bits(static_cast<std::uint16_t>(bits)));
  return values;
}
template <>
std::vector<std::uint8_t> all_values() {
  std::vector<std::uint8_t> values;
  for (int value = 0; value < 256; ++value) values.push_back(static_cast<std::uint8_t>(value));
  return values;
}
template <>
std::vector<std::int8_t> all_values() {
  std::vector<std::int8_t> values;
  for (int value = -128; value < 128; ++value) values.push_back(static_cast<std::int8_t>(value));
  return values;
}

template <class T>
void expect_floats() {
  const std::vector<T> values = all_values<T>();
  // Every number of values behind the last whole vector.
  for (std::size_t left_out = 0; left_out < 17; ++left_out) {
    const std::size_t count = values.size() - left_out;
    std::vector<float> got(values.size(), -7);
    widen(values.data(), static_cast<std::int64_t>(count), got.data());
    for (std::size_t i = 0; i < count; ++i) {
      const auto expected = static_cast<float>(values[i]);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got[i])) << i;
      } else {
        ASSERT_EQ(std::memcmp(&got[i], &expected, sizeof expected), 0) << i << ": " << got[i] << " is not " << expected;
      }
    }
    for (std::size_t i = count; i < got.size(); ++i) ASSERT_EQ(got[i], -7);
  }
}

TEST(Widen, GivesTheFloatOfEveryValue) {
  test::on_every_target([] {
    expect_floats<Float16>();
    expect_floats<BFloat16>();
    expect_floats<std::uint8_t>();
    expect_floats<std::int8_t>();
  });
}

template <class T>
void expect_first_beyond() {
  const std::vector<T> some(100, T(1.5));
  for (const double bad : {2.5, -2.5, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()})
    for (const std::size_t at : {0, 1, 31, 32, 63, 64, 98, 99}) {
      std::vector<T> values = some;
      values[at] = T(bad);
      if (at < 90) values[at + 5] = T(bad);
      ASSERT_EQ(find_beyond(values.data(), 100, T(2)), static_cast<std::int64_t>(at)) << bad;
      ASSERT_EQ(find_beyond(values.data(), static_cast<std::int64_t>(at), T(2)), -1) << bad;
    }
  EXPECT_EQ(find_beyond(some.data(), 100, T(1.5)), -1);
  EXPECT_EQ(find_beyond(some.data(), 0, T(0.0)), -1);
}

TEST(FindBeyond, FindsTheFirstOf16Bits) {
  test::on_every_target([] {
    expect_first_beyond<Float16>();
    expect_first_beyond<BFloat16>();
  });
}

// Scores of rows as they are stored are those of the same rows as floats, bit for bit.
template <class T>
void expect_scores_of_floats(std::int64_t dims) {
  constexpr std::int64_t kRows = 23;
  constexpr std::int64_t kQueries = 2;
  std::mt19937 random(3);
  const std::int64_t stride = dims + 3;
  std::vector<T> base;
  for (std::int64_t i = 0; i < kRows * stride; ++i)
    base.push_back(static_cast<T>(static_cast<int>(random() % 200) - 64));
  std::vector<float> floats(base.size());
  for (std::size_t i = 0; i < base.size(); ++i) floats[i] = static_cast<float>(base[i]);
  std::vector<float> queries(static_cast<std::size_t>(kQueries * dims));
  for (float& value : queries) value = static_cast<float>(random() % 1000) / 7;
  for (const core::Form form : {core::Form::squared, core::Form::absolute, core::Form::maximum, core::Form::power,
                                core::Form::mismatch, core::Form::ratio, core::Form::dot}) {
    std::vector<float> got(kQueries * kRows);
    std::vector<float> expected(got.size());
    const Rows<float> asked{queries.data(), kQueries, dims};
    direct_scores(form, 2.5, asked, Rows<T>{base.data(), kRows, stride}, dims, got.data(), kRows);
    direct_scores(form, 2.5, asked, Rows<float>{floats.data(), kRows, stride}, dims, expected.data(), kRows);
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)), 0)
        << "form " << static_cast<int>(form) << ", dims " << dims;
  }
}

TEST(DirectScores, OfStoredRowsAreThoseOfFloats) {
  test::on_every_target([] {
    for (const std::int64_t dims : {1, 3, 8, 15, 16, 17, 33, 100}) {
      expect_scores_of_floats<Float16>(dims);
      expect_scores_of_floats<BFloat16>(dims);
      expect_scores_of_floats<std::uint8_t>(dims);
      expect_scores_of_floats<std::int8_t>(dims);
    }
  });
}

}  // namespace
}  // namespace kith::cpu
