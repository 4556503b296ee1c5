// graph.hpp: from the neighbors of all points to their graph.
#pragma once

#include "kith/graph.hpp"

namespace kith::api {

template <class D>
Graph<D> graph_of(Neighbors<D> found, Symmetrize symmetrize);

}  // namespace kith::api
