// lists.hpp: what a kith_lists stands for: the answer of a radius search, or a graph.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "kith.h"
#include "kith/graph.hpp"
#include "kith/radius.hpp"

namespace kith::c {

template <class D>
struct Lists {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> ids;
  std::vector<D> distances;

  explicit Lists(RadiusNeighbors<D>&& found)
      : offsets(std::move(found.offsets)), ids(std::move(found.ids)), distances(std::move(found.distances)) {}
  explicit Lists(Graph<D>&& graph)
      : offsets(std::move(graph.indptr)), ids(std::move(graph.indices)), distances(std::move(graph.data)) {}
};

kith_lists* make_lists(std::variant<Lists<float>, Lists<double>>&& lists);

}  // namespace kith::c
