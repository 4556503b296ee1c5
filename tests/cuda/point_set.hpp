// point_set.hpp: points for the tests of the device sources, and the order of the answer to a query. Host code only.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kith/matrix.hpp"
#include "kith/metric.hpp"

namespace kith::test {

// Values before the first row, and at least so many between two that the stride is a multiple of `unit`.
struct RowLayout {
  std::int64_t offset = 0;
  std::int64_t gap = 0;
  std::int64_t unit = 1;
};
// The first row is aligned to the size of its own values only.
constexpr RowLayout kShifted{1, 0};

template <class T>
struct PointSet {
  std::int64_t rows = 0, dims = 0, offset = 0, stride = 0;
  std::vector<T> values;  // `nothing` where there is no coordinate: it must not be read

  PointSet(std::int64_t row_count, std::int64_t row_dims, RowLayout layout = {},
           T nothing = std::numeric_limits<T>::quiet_NaN())
      : rows(row_count),
        dims(row_dims),
        offset(layout.offset),
        stride((row_dims + layout.gap + layout.unit - 1) / layout.unit * layout.unit),
        values(static_cast<std::size_t>(offset + (rows - 1) * stride + dims), nothing) {}

  const T* row(std::int64_t i) const { return values.data() + offset + i * stride; }
  T* row(std::int64_t i) { return values.data() + offset + i * stride; }
  T& at(std::int64_t i, std::int64_t c) { return row(i)[c]; }
  T at(std::int64_t i, std::int64_t c) const { return row(i)[c]; }
  auto view() const { return MatrixView<T>(row(0), rows, dims, stride, 1); }
  // `data` is a copy of the values.
  auto on_device(const T* data) const { return MatrixView<T>::on_device(data + offset, rows, dims, stride); }
};

enum class Cloud {
  gaussian,
  uniform,
  clustered,    // a few tight groups far apart
  ties,         // small integers: many distances are shared; no row is zero or constant
  duplicates,   // few different points: clusters of radius 0
  line,         // all on one line
  flat,         // in a part of a plane
  all_equal,    // the same point
  tight,        // neighbors closer than products can tell apart, far from the origin
  far_away,     // so far that few bits of the coordinates differ
  anisotropic,  // axes of different lengths
  huge,         // squares overflow in float
  tiny,         // squares vanish in float
};

// Those that a curve through space orders in different ways.
constexpr Cloud kCurveClouds[] = {Cloud::uniform, Cloud::clustered, Cloud::duplicates, Cloud::all_equal,
                                  Cloud::flat,    Cloud::far_away,  Cloud::anisotropic};

template <class T>
PointSet<T> cloud(Cloud kind, std::int64_t rows, std::int64_t dims, unsigned seed, RowLayout layout = {});

template <class T>
struct Neighbor {
  T distance;
  std::int64_t id;
  friend bool operator<(const Neighbor& a, const Neighbor& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
  }
};

// All base points in the order of the answer to query q, by support/oracle.hpp.
template <class T>
std::vector<Neighbor<T>> in_order(const Metric& metric, const PointSet<T>& base, const PointSet<T>& queries,
                                  std::int64_t q);

}  // namespace kith::test
