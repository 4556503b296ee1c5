// split_order.hpp: the order of points in the leaves of a tree: halves along the widest axis, again and again.
// Idea    a node has 2^i points at positions that are a multiple of that, the last one what is left. All nodes of one
//         size are split by one sort, by (node, coordinate of the node's widest axis); nodes of up to 2048 points by a
//         block each, in shared memory. Where an axis is widest a sample says, so that an outlier does not count. Walks
//         meet half as many leaves as with points along Hilbert's curve, which takes but one sort; and no outlier,
//         offset or scale does more than move a cut.
// Ties    splits are stable: equal points stay in the order of their ids.
// Cost    9 sorts for a million points.
#pragma once

#include "cuda/points/point_rows.hpp"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::tree {

// Writes the numbers of the rows in that order. Enqueues everything on the workspace's stream, and resets the
// workspace.
template <class F>
void split_order(const PointRows<F>& rows, unsigned dims, unsigned* ids, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::tree
