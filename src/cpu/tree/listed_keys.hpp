// listed_keys.hpp: the exact keys of a query and points of a tree.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/finish_keys.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/tree/tree.hpp"

namespace kith::cpu {

// The raw sum of a query, in double, and a point that was given.
template <Element T>
double given_sum(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree, const double* query, std::int64_t id) {
  const core::Form form = core::form_of(base.metric);
  const T* const point = base.view.row(id);
  const std::int64_t stride = base.view.col_stride;
  if (!tree.is_periodic()) return core::raw_sum(form, base.metric.p, query, 1, 0.0, point, stride, 0.0, tree.dims);
  return core::periodic_raw_sum(form, base.metric.p, query, point, stride, tree.axes.data(), tree.dims);
}

// From the tree's own points where those are as they were given. `query` is in double. ids[i] is that of points[i];
// `raw` has room for kSlack more.
template <Element T>
void listed_keys(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree, const double* query,
                 const OffsetOf<DistanceOf<T>>* points, std::int64_t count, std::int64_t* ids, double* raw,
                 DistanceOf<T>* keys) {
  for (std::int64_t i = 0; i < count; ++i) ids[i] = tree.ids[static_cast<std::size_t>(points[i])];
  const core::Form form = core::form_of(base.metric);
  if (tree.is_periodic()) {
    for (std::int64_t i = 0; i < count; ++i) raw[i] = given_sum(base, tree, query, ids[i]);
  } else if (tree.has_given_points && form != core::Form::power) {
    exact_block_sums(form, query, {tree.points.data(), tree.rows, tree.dims}, points, count, raw);
  } else {
    exact_sums(form, base.metric.p, query, base.exact_base(), ids, count, raw);
  }
  finish_keys(
      base, {}, [&](std::int64_t i) { return ids[i]; }, count, raw, keys);
}

}  // namespace kith::cpu
