// points.hpp: points for tests of metrics, and what a search must find by a matrix of distances.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "core/order.hpp"
#include "definitions.hpp"
#include "kith/matrix.hpp"
#include "support/random.hpp"

namespace kith::test {

// Numbers from low to high, of which a share is zero; whole ones for bytes.
template <Element T>
Matrix<T> random_points(std::int64_t rows, std::int64_t dims, std::uint64_t seed, double low, double high,
                        double zeros = 0) {
  Random random(seed);
  Matrix<T> points(rows, dims);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < dims; ++c) {
      double value = low + (high - low) * random.uniform();
      if constexpr (std::is_integral_v<T>) value = std::max(value * 10, std::is_signed_v<T> ? -120.0 : 0.0);
      if (random.uniform() < zeros) value = 0;
      points(r, c) = static_cast<T>(static_cast<float>(value));
      if constexpr (std::is_same_v<T, double>) points(r, c) = value;
    }
  return points;
}

template <Element T>
Row row_of(const Matrix<T>& points, std::int64_t row) {
  Row values;
  for (std::int64_t c = 0; c < points.cols(); ++c) {
    if constexpr (sizeof(T) == 2) {
      values.push_back(static_cast<double>(static_cast<float>(points(row, c))));
    } else {
      values.push_back(static_cast<double>(points(row, c)));
    }
  }
  return values;
}

// Ids by (distance, id), NaN last.
template <class D>
std::vector<std::int64_t> ordered(const D* distances, std::int64_t count, std::int64_t without = -1) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  std::erase(ids, without);
  std::stable_sort(ids.begin(), ids.end(), [&](std::int64_t a, std::int64_t b) {
    return core::ordered_bits(distances[a]) < core::ordered_bits(distances[b]);
  });
  return ids;
}

}  // namespace kith::test
