#include "point_set.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "support/oracle.hpp"

namespace kith::test {

template <class T>
PointSet<T> cloud(Cloud kind, std::int64_t rows, std::int64_t dims, unsigned seed, RowLayout layout) {
  PointSet<T> made(rows, dims, layout);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto group = static_cast<double>(random() % 5);
    const double along = normal(random);
    for (std::int64_t c = 0; c < dims; ++c) {
      double value = normal(random);
      const auto axis = static_cast<double>(c % 7);
      switch (kind) {
        case Cloud::gaussian: break;
        case Cloud::uniform: value = unit(random); break;
        case Cloud::clustered: value = 20 * group * (axis - 2) + 0.1 * value + axis; break;
        case Cloud::ties: value = dims > 1 && c == i % dims ? 9 : std::round(value) + 3; break;
        case Cloud::duplicates: value = group + axis; break;
        case Cloud::line: value = along * (axis + 1) + axis; break;
        case Cloud::flat: value = c < 2 ? unit(random) : -2; break;
        case Cloud::all_equal: value = 1 + axis; break;
        case Cloud::tight: value = 100.0 * static_cast<double>(c % 5 - 1) + 1e-3 * value; break;
        case Cloud::far_away: value = 1e6 + unit(random); break;
        case Cloud::anisotropic: value = unit(random) * std::pow(10.0, c % 4); break;
        case Cloud::huge: value *= 1e30; break;
        case Cloud::tiny: value *= 1e-30; break;
      }
      made.at(i, c) = static_cast<T>(value);
    }
  }
  return made;
}

template <class T>
std::vector<Neighbor<T>> in_order(const Metric& metric, const PointSet<T>& base, const PointSet<T>& queries,
                                  std::int64_t q) {
  std::vector<Neighbor<T>> all;
  for (std::int64_t i = 0; i < base.rows; ++i)
    all.push_back({static_cast<T>(key_distance(queries.row(q), base.row(i), base.dims, metric)), i});
  const bool largest = metric.kind == MetricKind::inner_product;
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return largest ? a.distance > b.distance : a.distance < b.distance;
  });
  return all;
}

#define KITH_INSTANTIATE(T)                                                           \
  template PointSet<T> cloud(Cloud, std::int64_t, std::int64_t, unsigned, RowLayout); \
  template std::vector<Neighbor<T>> in_order(const Metric&, const PointSet<T>&, const PointSet<T>&, std::int64_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::test
