// radius_search.hpp: all base points within each query's radius.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/prepared_rows.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"

namespace kith::cpu {

// What is to be found. A key is what hits are ranked by: the distance, or minus the inner product.
template <class D>
struct Reach {
  std::vector<D> keys;  // the largest key that is within: one for all queries, or one for each
  bool count_only = false;
  bool exclude_self = false;   // queries are the base: a point is no neighbour of itself
  std::int64_t most_hits = 0;  // that memory can hold

  D key_of(std::int64_t query) const { return keys.size() == 1 ? keys[0] : keys[static_cast<std::size_t>(query)]; }
};

template <class D>
struct Reached {
  std::vector<std::int64_t> offsets;  // queries + 1
  std::vector<std::int64_t> ids;
  std::vector<D> distances;
  std::int64_t finalists = 0;  // keys computed
};

// By the tiles of the plan. Throws Error(out_of_memory) when there are more than most_hits.
template <Element T>
Reached<DistanceOf<T>> radius_search(const PreparedRows<T>& base, const PreparedRows<T>& queries, const Plan& plan,
                                     const Reach<DistanceOf<T>>& reach, const ProgressCallback& progress);

}  // namespace kith::cpu
