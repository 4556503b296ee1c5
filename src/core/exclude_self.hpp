// exclude_self.hpp: the k nearest others of every point, from its k + 1 nearest among all points, on the host.
// The point itself is recognized by its id, not by its distance 0, which duplicates share. When more than k copies with
// smaller ids precede it, it is not among the k + 1, and the last of these is dropped. src/cuda/graph/exclude_self.cu
// does the same.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kith/search.hpp"

namespace kith::core {

// `found` has lists of k + 1 for all points, `out` gets those of k for points first … last − 1.
template <class D>
void exclude_self(const NeighborsView<D>& found, std::int64_t k, std::int64_t first, std::int64_t last,
                  const NeighborsView<D>& out) {
  for (std::int64_t q = first; q < last; ++q) {
    const std::int64_t* ids = found.ids + q * (k + 1);
    const D* distances = found.distances + q * (k + 1);
    const std::int64_t self = std::find(ids, ids + k, q) - ids;  // k: the last one is dropped
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t from = i < self ? i : i + 1;
      out.ids[q * k + i] = ids[from];
      out.distances[q * k + i] = distances[from];
    }
  }
}

}  // namespace kith::core
