// split_order.hpp: the order of points in the leaves of a tree: halves along the widest axis, again and again.
// Idea    the points of a node are parted at the value that fills the leaves of its first child. That child has the
//         largest power of two of leaves that leaves some for the other, so that any aligned 2^i leaves are a node, and
//         every leaf but the last is full. The widest axis and the neighborhood of the value come from a sample;
//         one pass then finds the value itself, another one moves the points.
// Ties    parting is stable: equal points stay in the order of their ids.
// Cost    two passes a doubling of the leaves, shared by threads from the second on; a sort in one dimension.
// Limits  fewer than 2^32 points.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/prepared_rows.hpp"
#include "cpu/tree/periodic_axes.hpp"

namespace kith::cpu {

template <class F>
struct OrderedRows {
  std::vector<F> rows;             // in working precision, one after the other
  std::vector<std::uint32_t> ids;  // of the rows, as they were given
};

// Points are wrapped along the axes that say so; `axes` may be empty.
template <Element T>
OrderedRows<DistanceOf<T>> split_order(const PreparedRows<T>& set, const std::vector<core::PeriodicAxis>& axes,
                                       std::int64_t leaf_points, int threads, ProgressMeter& progress);

}  // namespace kith::cpu
