// direction_mapping.cpp: ‖x/‖x‖ − y/‖y‖‖² is twice the distance. Sums of n products are off by n u ‖x‖ ‖y‖ at most, so
// distances by (2n + 8) u, and images by half as much.
#include "custom/direction_mapping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::custom {
namespace {

class DirectionMapping final : public RowMapping {
 public:
  explicit DirectionMapping(std::int64_t dims)
      : dims_(dims), rounding_((2 * static_cast<double>(dims) + 8) * 0x1p-53) {}

  Metric metric() const override { return MetricKind::euclidean; }
  std::int64_t image_dims() const override { return dims_; }
  bool is_linear() const override { return false; }
  bool takes_float() const override { return true; }

  double map(const double* row, double* image) const override {
    double square = 0;
    for (std::int64_t c = 0; c < dims_; ++c) square += row[c] * row[c];
    if (!(square > 0 && std::isfinite(square))) return std::numeric_limits<double>::infinity();
    const double length = std::sqrt(square);
    for (std::int64_t c = 0; c < dims_; ++c) image[c] = row[c] / length;
    return rounding_;
  }

  double reach(double distance) const override {
    return std::sqrt(2 * (std::max(distance, 0.0) + 2 * rounding_)) * (1 + 0x1p-50);
  }

 private:
  std::int64_t dims_;
  double rounding_;
};

}  // namespace

std::shared_ptr<const RowMapping> direction_mapping(std::int64_t dims) {
  return std::make_shared<const DirectionMapping>(dims);
}

}  // namespace kith::custom
