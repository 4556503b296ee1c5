// query_order.hpp: queries in the order of the leaves near to them, so that neighboring warps walk the same way.
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/tree/tree_queries.hpp"

namespace kith::KITH_BACKEND::tree {

// Returns the numbers of queries 0 … queries.count − 1 in that order, from the workspace. Few stay as they are.
template <class F>
const unsigned* query_order(const TreeQueries<F>& queries, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::tree
