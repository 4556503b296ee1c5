// max_distance.hpp: what Options::max_distance leaves of neighbors, on the host. src/cuda/graph/leave_out_beyond.cu
// does the same on a device.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kith/search.hpp"

namespace kith::core {

// In the place of neighbors that are left out; their distances are infinite.
inline constexpr std::int64_t kNoNeighbor = -1;

// What stands beside it: no distance that a neighbor has is farther away.
template <class D>
D missing_distance(const Metric& metric) {
  constexpr D kInfinity = std::numeric_limits<D>::infinity();
  return metric.kind == MetricKind::inner_product ? -kInfinity : kInfinity;
}

// The largest distance of type D that is not above `max_distance`, which is 0 or more: infinite where that is.
template <class D>
D largest_within(double max_distance) {
  constexpr D kLargest = std::numeric_limits<D>::max();
  if (std::isinf(max_distance)) return std::numeric_limits<D>::infinity();
  if (max_distance >= static_cast<double>(kLargest)) return kLargest;
  const auto rounded = static_cast<D>(max_distance);
  return static_cast<double>(rounded) > max_distance ? std::nextafter(rounded, D{0}) : rounded;
}

// Places first … last − 1 of lists of distances, none of which is an inner product.
template <class D>
void leave_out_beyond(const NeighborsView<D>& lists, std::int64_t first, std::int64_t last, D largest) {
  for (std::int64_t i = first; i < last; ++i) {
    if (lists.distances[i] <= largest) continue;
    lists.ids[i] = kNoNeighbor;
    lists.distances[i] = std::numeric_limits<D>::infinity();
  }
}

}  // namespace kith::core
