// fp16_points.hpp: points whose coordinates fp16 has exactly, and whose products have no error.
#pragma once

#include "cuda/points/fp16_rows.hpp"
#include "device_test.hpp"
#include "support/random.hpp"

namespace kith::test {

// Integers from −8 to 8, in rows padded with zeros, and behind them with `gap` values that nobody may use.
struct Fp16Points {
  Fp16Points(std::int64_t points, std::int64_t coordinates, Random& random, std::int64_t gap = 0)
      : count(points), dims(coordinates), stride(device::fp16_stride(coordinates) + gap) {
    for (std::int64_t i = 0; i < count * dims; ++i) values.push_back(static_cast<int>(random.below(17)) - 8);
  }

  int at(std::int64_t row, std::int64_t c) const { return values[static_cast<std::size_t>(row * dims + c)]; }
  std::vector<device::Fp16> fp16(double scale) const {
    std::vector<device::Fp16> all(static_cast<std::size_t>(count * stride), device::fp16_of(0));
    for (std::int64_t row = 0; row < count; ++row) {
      for (std::int64_t c = 0; c < dims; ++c)
        all[static_cast<std::size_t>(row * stride + c)] = device::fp16_of(static_cast<float>(scale * at(row, c)));
      for (std::int64_t c = device::fp16_stride(dims); c < stride; ++c)
        all[static_cast<std::size_t>(row * stride + c)] = device::fp16_of(1000);
    }
    return all;
  }

  std::int64_t count;
  std::int64_t dims;
  std::int64_t stride;
  std::vector<int> values;
};

inline int product(const Fp16Points& x, std::int64_t i, const Fp16Points& y, std::int64_t j) {
  int sum = 0;
  for (std::int64_t c = 0; c < x.dims; ++c) sum += x.at(i, c) * y.at(j, c);
  return sum;
}

}  // namespace kith::test
