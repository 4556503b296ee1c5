// reduction.hpp: reductions of a query's neighbors, on the host and in a warp.
// Order   a sum runs over 32 lanes, neighbor r adding to lane r % 32, combined by halves: the order of a warp's
// shuffles,
//         so that every backend gets the same bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"
#include "kith/reduce.hpp"

namespace kith::core {

inline constexpr int kReduceLanes = 32;

struct Reduction {
  ReduceOp op = ReduceOp::mean;
  std::int64_t k = 0;
  std::int64_t dims = 0;
  std::int64_t columns = 0;  // of the values
  double cube_side = 0;      // side of the cube with the volume of the unit ball, for densities
  bool squared = false;      // distances are squared
};

KITH_HOST_DEVICE constexpr bool has_values(ReduceOp op) {
  return op != ReduceOp::kth_distance && op != ReduceOp::density && op != ReduceOp::covariance;
}

KITH_HOST_DEVICE inline std::int64_t reduced_columns(const Reduction& reduction) {
  switch (reduction.op) {
    case ReduceOp::kth_distance:
    case ReduceOp::density: return 1;
    case ReduceOp::covariance: return reduction.dims * (reduction.dims + 1) / 2;
    default: return reduction.columns;
  }
}

// Adds up the lanes of a sum on the host.
struct HostLanes {
  template <class Term>
  static double sum(std::int64_t count, Term term) {
    double lanes[kReduceLanes] = {};
    for (std::int64_t r = 0; r < count; ++r) lanes[r % kReduceLanes] += term(r);
    for (int half = kReduceLanes / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    return lanes[0];
  }
  // The least of the terms for sign 1, the greatest for sign −1.
  template <class Term>
  static double least(std::int64_t count, double sign, Term term) {
    double found = sign * term(0);
    for (std::int64_t r = 1; r < count; ++r) found = sign * term(r) < found ? sign * term(r) : found;
    return sign * found;
  }
};

#if defined(__CUDACC__)
#define KITH_ANY_LANES _Pragma("nv_exec_check_disable")
#else
#define KITH_ANY_LANES
#endif

// The weighted mean of column c.
KITH_ANY_LANES
template <class Lanes, class Neighbors, class Weight>
KITH_HOST_DEVICE double weighted_column(const Neighbors& neighbors, std::int64_t k, std::int64_t c, Weight weight) {
  const double weights = Lanes::sum(k, weight);
  return Lanes::sum(k, [&](std::int64_t r) { return weight(r) * neighbors.value(r, c); }) / weights;
}

KITH_ANY_LANES
template <class Lanes, class Neighbors>
KITH_HOST_DEVICE double reduced_value(const Reduction& reduction, const Neighbors& neighbors, std::int64_t c) {
  const std::int64_t k = reduction.k;
  const auto value = [&](std::int64_t r) { return neighbors.value(r, c); };
  switch (reduction.op) {
    case ReduceOp::mean: return Lanes::sum(k, value) / static_cast<double>(k);
    case ReduceOp::sum: return Lanes::sum(k, value);
    case ReduceOp::min: return Lanes::least(k, 1, value);
    case ReduceOp::max: return Lanes::least(k, -1, value);
    case ReduceOp::weighted_mean:
      // Neighbors are sorted: the first is at distance 0 if any is.
      if (neighbors.distance(0) == 0)
        return weighted_column<Lanes>(neighbors, k, c,
                                      [&](std::int64_t r) { return neighbors.distance(r) == 0 ? 1.0 : 0.0; });
      return weighted_column<Lanes>(neighbors, k, c, [&](std::int64_t r) { return 1 / neighbors.distance(r); });
    default: return 0;
  }
}

// k over the volume of the ball whose radius is the k-th distance, which may be 0.
template <class Neighbors>
KITH_HOST_DEVICE double density_of(const Reduction& reduction, const Neighbors& neighbors) {
  const double distance = neighbors.distance(reduction.k - 1);
  const double radius = reduction.squared ? std::sqrt(distance) : distance;
  // The volume comes from the cube of the same volume: in many dimensions that of the unit ball is 0 in double.
  const double side = reduction.cube_side * radius;
  double volume = 1;
  for (std::int64_t c = 0; c < reduction.dims; ++c) volume *= side;
  return static_cast<double>(reduction.k) / volume;
}

// Subtracts the coordinates of the nearest neighbor first, so that nothing cancels far from the origin.
KITH_ANY_LANES
template <class Lanes, class Neighbors>
KITH_HOST_DEVICE double covariance_of(const Reduction& reduction, const Neighbors& neighbors, std::int64_t a,
                                      std::int64_t b) {
  const auto k = static_cast<double>(reduction.k);
  const double origin_a = neighbors.coordinate(0, a);
  const double origin_b = neighbors.coordinate(0, b);
  const double mean_a =
      Lanes::sum(reduction.k, [&](std::int64_t r) { return neighbors.coordinate(r, a) - origin_a; }) / k;
  const double mean_b =
      Lanes::sum(reduction.k, [&](std::int64_t r) { return neighbors.coordinate(r, b) - origin_b; }) / k;
  const double product = Lanes::sum(reduction.k, [&](std::int64_t r) {
    return (neighbors.coordinate(r, a) - origin_a) * (neighbors.coordinate(r, b) - origin_b);
  });
  return product / k - mean_a * mean_b;
}

// Calls put(column, value) for all columns. `neighbors` has distance(r), value(r, c) and coordinate(r, c) of neighbor r
// of k, in double. On a device it must be called by all lanes of the warp, each of which calls put().
KITH_ANY_LANES
template <class Lanes, class Neighbors, class Put>
KITH_HOST_DEVICE void reduce_neighbors(const Reduction& reduction, const Neighbors& neighbors, Put put) {
  if (reduction.op == ReduceOp::kth_distance) {
    put(0, neighbors.distance(reduction.k - 1));
  } else if (reduction.op == ReduceOp::density) {
    put(0, density_of(reduction, neighbors));
  } else if (reduction.op == ReduceOp::covariance) {
    std::int64_t column = 0;
    for (std::int64_t a = 0; a < reduction.dims; ++a)
      for (std::int64_t b = a; b < reduction.dims; ++b) put(column++, covariance_of<Lanes>(reduction, neighbors, a, b));
  } else {
    for (std::int64_t c = 0; c < reduction.columns; ++c) put(c, reduced_value<Lanes>(reduction, neighbors, c));
  }
}

}  // namespace kith::core
