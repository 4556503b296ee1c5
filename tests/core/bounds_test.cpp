// Bounds: points that they allow to drop must really be farther, and they must not be so wide that nothing is dropped.
#include "core/bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kith/metric.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

constexpr std::int64_t kDims = 100;

const std::vector<Metric>& growing_metrics() {
  static const std::vector<Metric> metrics = {MetricKind::sqeuclidean, MetricKind::euclidean, MetricKind::manhattan,
                                              MetricKind::chebyshev,   MetricKind::hamming,   MetricKind::canberra,
                                              Metric::minkowski(1.5),  Metric::minkowski(3),  Metric::minkowski(40)};
  return metrics;
}

template <class D>
D key_of(const Metric& metric, double raw) {
  return static_cast<D>(core::finish(metric, raw, {}, {}, kDims));
}

// A raw sum just above the ceiling of a key has a larger key; one that has this key is not above the ceiling.
template <class D>
void expect_ceiling_holds(const Metric& metric, double raw) {
  const D key = key_of<D>(metric, raw);
  if (!std::isfinite(key)) return;
  const double ceiling = core::raw_ceiling(metric, key, kDims);
  ASSERT_LE(raw, ceiling) << kith::to_string(metric);
  double above = ceiling;
  for (int step = 0; step < 4; ++step) {
    above = std::nextafter(above, std::numeric_limits<double>::infinity());
    ASSERT_GT(key_of<D>(metric, above), key)
        << kith::to_string(metric) << ": raw " << above << " is above the ceiling " << ceiling << " of the key " << key;
  }
}

TEST(Bounds, WhatLiesAboveTheCeilingIsFarther) {
  Random random(1);
  for (const Metric& metric : growing_metrics()) {
    for (int i = 0; i < 20000; ++i) {
      // In the middle of the range, and at either end of it.
      const int least = random.below(2) == 0 ? -1060 : 850;
      for (const int exponent :
           {static_cast<int>(random.below(200)) - 100, least + static_cast<int>(random.below(150))}) {
        const double raw = std::ldexp(1 + random.uniform(), exponent);
        expect_ceiling_holds<float>(metric, raw);
        expect_ceiling_holds<double>(metric, raw);
      }
    }
  }
}

TEST(Bounds, TheCeilingIsTight) {
  for (const Metric& metric : growing_metrics()) {
    for (const double raw : {1e-20, 0.3, 1.0, 7.0, 1e20}) {
      const double ceiling = core::raw_ceiling(metric, key_of<float>(metric, raw), kDims);
      EXPECT_LE(ceiling, raw * (1 + 1e-5)) << kith::to_string(metric);
    }
  }
}

TEST(Bounds, GammaCoversSumsInAnyOrder) {
  Random random(3);
  for (const std::int64_t terms : {2, 10, 1000}) {
    for (int round = 0; round < 200; ++round) {
      float computed = 0;
      double exact = 0;
      double magnitude = 0;
      for (std::int64_t i = 0; i < terms; ++i) {
        const auto value = static_cast<float>(random.gaussian());
        computed += value;
        exact += value;
        magnitude += std::abs(value);
      }
      EXPECT_LE(std::abs(computed - exact), core::gamma<float>(terms) * magnitude);
    }
  }
  EXPECT_TRUE(std::isinf(core::gamma<float>(std::int64_t{1} << 30)));
}

TEST(Bounds, RoundUpNeverRoundsDown) {
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    const double value = std::ldexp(random.gaussian(), static_cast<int>(random.below(200)) - 100);
    const float up = core::round_up<float>(value);
    EXPECT_GE(static_cast<double>(up), value);
    EXPECT_LT(static_cast<double>(std::nextafter(up, -std::numeric_limits<float>::infinity())), value);
  }
  EXPECT_EQ(core::round_up<double>(0.1), 0.1);
}

}  // namespace
}  // namespace kith::test
