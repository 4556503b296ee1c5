#include "custom/declared_properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "kith/error.hpp"

namespace kith::custom {
namespace {

// All triples of these.
constexpr std::int64_t kMostPoints = 24;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::bad_data, what);
}

}  // namespace

std::int64_t check_declared(const PairSource& source, std::int64_t objects, const DistanceProperties& properties) {
  const std::int64_t count = std::min(objects, kMostPoints);
  const auto n = static_cast<std::size_t>(count);
  const auto object = [&](std::size_t i) { return static_cast<std::int64_t>(i) * (objects / count); };
  // What sums of distances may differ by: each is off by its errors.
  const auto leeway = [&](double a, double b) {
    return (4 * properties.relative_error + 0x1p-48) * (a + b) + 6 * properties.absolute_error;
  };
  std::vector<double> distances(n * n);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      const double found = source.distance(object(a), object(b), std::numeric_limits<double>::infinity());
      if (!(found >= 0 && std::isfinite(found)))
        refuse(fmt::format("the distance of points {} and {} is {}; those of a metric are finite and not negative",
                           object(a), object(b), found));
      distances[a * n + b] = found;
    }
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      const double direct = distances[a * n + b];
      const double back = distances[b * n + a];
      if (properties.symmetric && std::abs(direct - back) > leeway(direct, back))
        refuse(fmt::format("the distance of points {} and {} is {} but {} the other way; it was said to be symmetric",
                           object(a), object(b), direct, back));
      for (std::size_t c = 0; c < n; ++c) {
        const double around = distances[a * n + c] + distances[c * n + b];
        if (direct - around > leeway(direct, around))
          refuse(
              fmt::format("the distance of points {} and {} is {}, more than the {} by way of point {}; the triangle "
                          "inequality was promised",
                          object(a), object(b), direct, around, object(c)));
      }
    }
  return count * count;
}

}  // namespace kith::custom
