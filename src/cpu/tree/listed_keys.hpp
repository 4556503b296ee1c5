// listed_keys.hpp: the exact keys of a query and points of a tree.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/finish_keys.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/tree/tree.hpp"

namespace kith::cpu {

// From the tree's own points where those are as they were given. `query` is in double. ids[i] is that of points[i];
// `raw` has room for kSlack more.
template <Element T>
void listed_keys(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree, const double* query,
                 const OffsetOf<DistanceOf<T>>* points, std::int64_t count, std::int64_t* ids, double* raw,
                 DistanceOf<T>* keys) {
  for (std::int64_t i = 0; i < count; ++i) ids[i] = tree.ids[static_cast<std::size_t>(points[i])];
  const core::Form form = core::form_of(base.metric);
  if (tree.has_given_points && form != core::Form::power) {
    exact_block_sums(form, query, {tree.points.data(), tree.rows, tree.dims}, points, count, raw);
  } else {
    exact_sums(form, base.metric.p, query, base.exact_base(), ids, count, raw);
  }
  finish_keys(
      base, {}, [&](std::int64_t i) { return ids[i]; }, count, raw, keys);
}

}  // namespace kith::cpu
