// Normals of a torus from its points alone: the direction in which neighbors lie closest to a plane.
#include <kith/kith.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

int main() {
  constexpr std::int64_t kAround = 200;
  constexpr std::int64_t kAcross = 100;
  kith::Matrix<float> points(kAround * kAcross, 3);
  kith::Matrix<float> right(kAround * kAcross, 3);
  for (std::int64_t i = 0; i < points.rows(); ++i) {
    const double u = 2 * std::numbers::pi * static_cast<double>(i / kAcross) / kAround;
    const double v = 2 * std::numbers::pi * static_cast<double>(i % kAcross) / kAcross;
    const double normal[] = {std::cos(u) * std::cos(v), std::sin(u) * std::cos(v), std::sin(v)};
    const double ring[] = {2 * std::cos(u), 2 * std::sin(u), 0};
    for (std::int64_t c = 0; c < 3; ++c) {
      points(i, c) = static_cast<float>(ring[c] + 0.7 * normal[c]);
      right(i, c) = static_cast<float>(normal[c]);
    }
  }

  try {
    kith::Options options;
    options.method = kith::Method::shifted_sort;  // approximate neighbors do as well here
    const auto covariances = kith::reduce(points.view(), points.view(), 12, {}, kith::ReduceOp::covariance, options);
    const kith::Matrix<float> normals = kith::normals(covariances.values, 3);
    double worst = 1;
    for (std::int64_t i = 0; i < points.rows(); ++i) {
      double along = 0;
      for (std::int64_t c = 0; c < 3; ++c)
        along += static_cast<double>(normals(i, c)) * static_cast<double>(right(i, c));
      worst = std::min(worst, std::abs(along));
    }
    std::printf("%d normals, the worst at %s than 5 degrees\n", static_cast<int>(normals.rows()),
                worst > std::cos(5 * std::numbers::pi / 180) ? "less" : "more");
  } catch (const kith::Error& error) {
    std::fprintf(stderr, "%s: %s\n", kith::to_string(error.code()), error.what());
    return 1;
  }
}
