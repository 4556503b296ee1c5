// reduce_lists.hpp: reductions of lists of neighbors on the host. src/cuda/reduce/reduce_lists.cu does the same on a
// device.
#pragma once

#include "core/reduction.hpp"

namespace kith::core {

// The neighbors of a query, as reduce_neighbors() takes them.
template <Element T>
struct ListedNeighbors {
  const MatrixView<T>& base;
  const MatrixView<DistanceOf<T>>& values;
  const std::int64_t* ids;
  const DistanceOf<T>* distances;

  double distance(std::int64_t r) const { return static_cast<double>(distances[r]); }
  double value(std::int64_t r, std::int64_t c) const { return static_cast<double>(values(ids[r], c)); }
  double coordinate(std::int64_t r, std::int64_t c) const { return static_cast<double>(base(ids[r], c)); }
};

// Writes rows first … last − 1 of `out` from lists of reduction.k neighbors each.
template <Element T>
void reduce_lists(const Reduction& reduction, const MatrixView<T>& base, const MatrixView<DistanceOf<T>>& values,
                  const NeighborsView<DistanceOf<T>>& lists, std::int64_t first, std::int64_t last,
                  DistanceOf<T>* out) {
  const std::int64_t columns = reduced_columns(reduction);
  for (std::int64_t q = first; q < last; ++q) {
    const ListedNeighbors<T> neighbors{base, values, lists.ids + q * reduction.k, lists.distances + q * reduction.k};
    reduce_neighbors<HostLanes>(reduction, neighbors, [&](std::int64_t c, double value) {
      out[q * columns + c] = static_cast<DistanceOf<T>>(value);
    });
  }
}

}  // namespace kith::core
