// host_neighbors.hpp: a query's neighbors on the host, as core::reduce_neighbors() takes them.
#pragma once

#include <vector>

#include "shifted_sort/curve_set.hpp"

namespace kith::test {

template <class F>
struct HostNeighbors {
  const CurveSet<F>& base;
  const std::vector<F>& values;
  std::int64_t value_stride;
  const std::int64_t* ids;
  const F* distances;

  double distance(std::int64_t r) const { return static_cast<double>(distances[r]); }
  double value(std::int64_t r, std::int64_t c) const {
    return static_cast<double>(values[static_cast<std::size_t>(ids[r] * value_stride + c)]);
  }
  double coordinate(std::int64_t r, std::int64_t c) const { return static_cast<double>(base.row(ids[r])[c]); }
};

}  // namespace kith::test
