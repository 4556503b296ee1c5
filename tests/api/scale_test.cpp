// Points of any scale: multiplied by a power of two, float points have the same neighbors at distances multiplied by
// it, and take no more work, though squares of their coordinates leave the range of float.
#include <gtest/gtest.h>

#include <cmath>

#include "kith/radius.hpp"
#include "kith/search.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

// A CPU scales points; on a device odd scales take more work.
Options on_cpu() {
  Options options;
  options.backend = Backend::cpu;
  return options;
}

constexpr int kExponents[] = {-100, -63, -45, 30, 66, 110};

void multiply(Matrix<float>& points, int exponent) {
  for (std::int64_t i = 0; i < points.rows() * points.cols(); ++i)
    points.data()[i] = std::ldexp(points.data()[i], exponent);
}

Sample<float> scaled(const Sample<float>& sample, int exponent) {
  Sample<float> made = sample;
  multiply(made.base, exponent);
  multiply(made.queries, exponent);
  return made;
}

// Coordinates with so few digits that none is lost below the smallest normal number.
Sample<float> coarse_points(Shape shape) {
  Sample<float> sample = generate<float>(Kind::gaussian, shape, MetricKind::euclidean, 3);
  for (Matrix<float>* points : {&sample.base, &sample.queries})
    for (std::int64_t i = 0; i < points->rows() * points->cols(); ++i)
      points->data()[i] = std::round(points->data()[i] * 64) / 64;
  return sample;
}

struct ScaledSearch {
  Method method;
  DistanceStage distance;
};

constexpr ScaledSearch kWays[] = {
    {Method::automatic, DistanceStage::automatic},  {Method::brute, DistanceStage::direct},
    {Method::brute, DistanceStage::register_tiled}, {Method::brute, DistanceStage::gemm},
    {Method::triangle, DistanceStage::automatic},   {Method::tree, DistanceStage::automatic}};

TEST(Scale, ChangesDistancesAndNothingElse) {
  for (const std::int64_t dims : {3, 16}) {
    const Sample<float> sample = coarse_points({6000, 40, dims});
    for (const ScaledSearch& way : kWays) {
      Options options = on_cpu();
      options.method = way.method;
      options.distance = way.distance;
      options.threads = 1;
      const auto want = search(sample.base.view(), sample.queries.view(), 10, options);
      for (const int exponent : kExponents) {
        const Sample<float> points = scaled(sample, exponent);
        const auto got = search(points.base.view(), points.queries.view(), 10, options);
        EXPECT_EQ(got.ids, want.ids) << "2^" << exponent << ' ' << way.method << ' ' << way.distance;
        for (std::size_t i = 0; i < want.distances.size(); ++i)
          ASSERT_EQ(got.distances[i], std::ldexp(want.distances[i], exponent)) << "2^" << exponent;
        EXPECT_LE(got.report.finalists, 2 * want.report.finalists)
            << "2^" << exponent << ' ' << way.method << ' ' << way.distance << ' ' << dims << " dimensions";
      }
    }
  }
}

TEST(Scale, OfInnerProductsToo) {
  const Sample<float> sample = coarse_points({5000, 30, 20});
  Options options = on_cpu();
  options.metric = MetricKind::inner_product;
  const auto want = search(sample.base.view(), sample.queries.view(), 10, options);
  for (const int exponent : {-60, -40, 55}) {
    const Sample<float> points = scaled(sample, exponent);
    const auto got = search(points.base.view(), points.queries.view(), 10, options);
    EXPECT_EQ(got.ids, want.ids) << "2^" << exponent;
    EXPECT_LE(got.report.finalists, 2 * want.report.finalists) << "2^" << exponent;
  }
}

TEST(Scale, OfARadius) {
  const Sample<float> sample = coarse_points({5000, 60, 12});
  const std::vector<float> radius = {3.5F};
  const auto want =
      search_radius<float>(sample.base.view(), sample.queries.view(), radius, RadiusOutput::neighbors, on_cpu());
  for (const int exponent : kExponents) {
    const Sample<float> points = scaled(sample, exponent);
    const std::vector<float> near = {std::ldexp(radius[0], exponent)};
    const auto got =
        search_radius<float>(points.base.view(), points.queries.view(), near, RadiusOutput::neighbors, on_cpu());
    EXPECT_EQ(got.offsets, want.offsets) << "2^" << exponent;
    EXPECT_EQ(got.ids, want.ids) << "2^" << exponent;
    EXPECT_LE(got.report.finalists, 2 * want.report.finalists) << "2^" << exponent;
  }
}

// Rows of other scales among them: the sample decides by most, and all stay right.
TEST(Scale, MayDifferFromRowToRow) {
  for (const int exponent : {-100, -63, 66, 100}) {
    for (const int other : {-120, 0, 90}) {
      Sample<float> sample = scaled(coarse_points({900, 20, 7}), exponent);
      for (std::int64_t row = 3; row < 900; row += 10)
        for (std::int64_t c = 0; c < 7; ++c)
          sample.base(row, c) = std::ldexp(static_cast<float>((row + c) % 13), other);
      for (std::int64_t c = 0; c < 7; ++c) sample.queries(5, c) = std::ldexp(1.0F, other);
      const auto truth = truth_of(sample, MetricKind::euclidean);
      for (const ScaledSearch& way : kWays) {
        Options options = on_cpu();
        options.method = way.method;
        options.distance = way.distance;
        EXPECT_TRUE(matches_truth(search(sample.base.view(), sample.queries.view(), 12, options), truth, 12))
            << "2^" << exponent << " and 2^" << other << ' ' << way.method << ' ' << way.distance;
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
