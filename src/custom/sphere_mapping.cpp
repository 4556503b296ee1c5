// sphere_mapping.cpp: what rounding does to chords, and to haversines.
//
// With h = sin²(Δφ/2) + C sin²(Δλ/2), C = cos φ₁ cos φ₂, the chord is 2√h, of any angles. Computed sines are off by
// E = u (1 + (|φ| + |λ|)/2) of either row at most, so that
//   √ĥ ≥ √h (1 − 8u) − 3 (E₁ + E₂)                            where C ≥ 0, and
//   √ĥ ≥ √h (1 − 8u) − 3 (E₁ + E₂) − √(1e-3 (E₁ + E₂))        where C ≥ −1e-7: a pole that was rounded to float.
// Latitudes farther beyond the poles are no points of a sphere and have no image: the terms of h may cancel then.
#include "custom/sphere_mapping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kith::custom {
namespace {

constexpr double kBeyondPole = 1e-7;

class SphereMapping final : public RowMapping {
 public:
  Metric metric() const override { return MetricKind::euclidean; }
  std::int64_t image_dims() const override { return 3; }
  bool is_linear() const override { return false; }
  // A chord of 1e-7 is a meter on the Earth.
  bool takes_float() const override { return false; }

  double map(const double* row, double* image) const override {
    const double latitude = row[0];
    const double longitude = row[1];
    if (!(std::abs(latitude) <= std::numbers::pi / 2 + kBeyondPole && std::isfinite(longitude)))
      return std::numeric_limits<double>::infinity();
    const double across = std::cos(latitude);
    image[0] = across * std::cos(longitude);
    image[1] = across * std::sin(longitude);
    image[2] = std::sin(latitude);
    const double sines = kRounding * (1 + (std::abs(latitude) + std::abs(longitude)) / 2);
    return 2 * (3 * sines + std::sqrt(1e-3 * sines)) + 16 * kRounding;
  }

  double reach(double distance) const override {
    constexpr double kSlack = 32 * kRounding;
    const double half = std::sin(std::clamp(distance * 0.5, 0.0, std::numbers::pi / 2));
    return 2 * (half * (1 + kSlack) + kSlack);
  }
};

}  // namespace

std::shared_ptr<const RowMapping> sphere_mapping() {
  return std::make_shared<const SphereMapping>();
}

}  // namespace kith::custom
