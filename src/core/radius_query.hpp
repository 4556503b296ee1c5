// radius_query.hpp: the request of a radius search, the same for every backend.
#pragma once

#include <cstdint>
#include <vector>

namespace kith::core {

// Keys are those of core/key.hpp: the distance, or minus the inner product.
template <class D>
struct RadiusQuery {
  std::vector<D> keys;  // the largest key that is within: one for all queries, or one for each
  bool count_only = false;
  bool exclude_self = false;  // queries are the base: a point is no neighbor of itself
  std::int64_t max_hits = 0;  // hits that memory can hold

  D key_of(std::int64_t query) const { return keys.size() == 1 ? keys[0] : keys[static_cast<std::size_t>(query)]; }
};

}  // namespace kith::core
