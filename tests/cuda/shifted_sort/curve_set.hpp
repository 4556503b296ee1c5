// curve_set.hpp: points for the tests of shifted sorting.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace kith::test {

template <class F>
struct CurveSet {
  std::int64_t rows = 0;
  int dims = 0;
  std::vector<F> values;
  const F* row(std::int64_t i) const { return values.data() + i * dims; }
};

enum class Cloud { uniform, clustered, duplicates, all_equal, flat, far_away, anisotropic };
constexpr Cloud kClouds[] = {Cloud::uniform, Cloud::clustered, Cloud::duplicates, Cloud::all_equal,
                             Cloud::flat,    Cloud::far_away,  Cloud::anisotropic};

template <class F>
CurveSet<F> cloud(Cloud kind, std::int64_t rows, int dims, unsigned seed) {
  CurveSet<F> made{rows, dims, {}};
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> normal;
  for (std::int64_t i = 0; i < rows; ++i)
    for (int c = 0; c < dims; ++c) {
      double x = unit(random);
      if (kind == Cloud::clustered) x = static_cast<double>((i * 7 + c) % 5) + 1e-4 * normal(random);
      if (kind == Cloud::duplicates) x = static_cast<double>((i % 9 + c) % 4);
      if (kind == Cloud::all_equal) x = 3.25;
      if (kind == Cloud::flat && c > 0) x = c == 1 ? 0.5 * x : -2;
      if (kind == Cloud::far_away) x = 1e6 + x;
      if (kind == Cloud::anisotropic) x *= std::pow(10.0, c % 4);
      made.values.push_back(static_cast<F>(x));
    }
  return made;
}

}  // namespace kith::test
