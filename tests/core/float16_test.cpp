// Numbers of 16 bits: every one of them, and every kind of rounding to them.
#include "kith/float16.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/random.hpp"

namespace kith {
namespace {

constexpr int kAllBits = 1 << 16;

// By the definition of the format.
double value_by_definition(std::uint16_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7FFF) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
}

template <class T>
void expect_values_of_the_format(int exponent_bits) {
  for (int i = 0; i < kAllBits; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const double expected = value_by_definition(bits, exponent_bits);
    const float got = T::from_bits(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
      ASSERT_TRUE(std::isnan(static_cast<float>(T(got)))) << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(got), expected) << bits;
    ASSERT_EQ(std::signbit(got), std::signbit(expected)) << bits;
    ASSERT_EQ(T(static_cast<double>(got)).bits, bits);
  }
}

TEST(SixteenBits, HaveTheValuesOfTheirFormats) {
  expect_values_of_the_format<Float16>(5);
  expect_values_of_the_format<BFloat16>(8);
}

// Around each number: what lies between it and the next goes to the nearer one, halves to the even one.
template <class T>
void expect_nearest() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::uint16_t infinity = T(kInfinity).bits;
  for (std::uint16_t bits = 0; bits < infinity; ++bits) {
    const auto above = static_cast<std::uint16_t>(bits + 1);
    const double low = static_cast<double>(static_cast<float>(T::from_bits(bits)));
    // Infinity begins where the next number would be.
    const double below = bits == 0 ? 0 : static_cast<double>(static_cast<float>(T::from_bits(bits - 1)));
    const double high =
        above == infinity ? 2 * low - below : static_cast<double>(static_cast<float>(T::from_bits(above)));
    const double middle = low + (high - low) / 2;
    const std::uint16_t even = bits % 2 == 0 ? bits : above;
    ASSERT_EQ(T(middle).bits, even) << bits;
    ASSERT_EQ(T(std::nextafter(middle, 0)).bits, bits);
    ASSERT_EQ(T(std::nextafter(middle, kInfinity)).bits, above);
    ASSERT_EQ(T(-middle).bits, even | 0x8000);
  }
}

TEST(SixteenBits, AreRoundedOnceToTheNearest) {
  expect_nearest<Float16>();
  expect_nearest<BFloat16>();
}

TEST(SixteenBits, WhatIsTooSmallIsZeroOfItsSignAndWhatIsTooLargeInfinite) {
  EXPECT_EQ(Float16(1e-300).bits, 0);
  EXPECT_EQ(Float16(-1e-300).bits, 0x8000);
  EXPECT_EQ(Float16(-std::numeric_limits<double>::denorm_min()).bits, 0x8000);
  EXPECT_EQ(Float16(65519.999).bits, 0x7BFF);
  EXPECT_EQ(Float16(65520).bits, 0x7C00);
  EXPECT_EQ(Float16(-1e300).bits, 0xFC00);
  EXPECT_EQ(BFloat16(1e300).bits, 0x7F80);
  EXPECT_EQ(BFloat16(static_cast<double>(std::numeric_limits<float>::denorm_min())).bits, 0);
}

// g++ 12 has the type in C++ on x86 alone, and clang 14 only with an option.
#if defined(__x86_64__) && !defined(__clang__)
TEST(SixteenBits, AreThoseOfTheCompilersOwnType) {
  test::Random random(7);
  for (int i = 0; i < 200000; ++i) {
    const double value = random.gaussian() * std::exp2(static_cast<double>(random.below(50)) - 30);
    const auto half = static_cast<_Float16>(value);
    std::uint16_t bits = 0;
    std::memcpy(&bits, &half, sizeof bits);
    ASSERT_EQ(Float16(value).bits, bits) << value;
  }
}
#endif

}  // namespace
}  // namespace kith
