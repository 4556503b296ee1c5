// exclude_self.hpp: from the k + 1 nearest of every point among all, the k nearest others.
// The point itself is found by its id, not by its distance 0, so duplicates are no trouble. When more than k copies
// precede it by id it is not among the k + 1, and the last of them goes.
#pragma once

#include <algorithm>
#include <utility>

#include "kith/search.hpp"

namespace kith::api {

template <class D>
Neighbors<D> exclude_self(Neighbors<D> found) {
  const std::int64_t k = found.k - 1;
  for (std::int64_t q = 0; q < found.queries; ++q) {
    const std::int64_t* ids = found.ids.data() + q * found.k;
    const D* distances = found.distances.data() + q * found.k;
    const std::int64_t self = std::find(ids, ids + k, q) - ids;  // k: the last one goes
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t from = i < self ? i : i + 1;
      found.ids[static_cast<std::size_t>(q * k + i)] = ids[from];
      found.distances[static_cast<std::size_t>(q * k + i)] = distances[from];
    }
  }
  found.k = k;
  found.ids.resize(static_cast<std::size_t>(found.queries * k));
  found.distances.resize(found.ids.size());
  return found;
}

}  // namespace kith::api
