// lists.hpp: what a kith_lists stands for: the answer of a radius search, or a graph; and what both are asked with.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "c/arguments.hpp"
#include "kith.h"
#include "kith/graph.hpp"
#include "kith/radius.hpp"

namespace kith::c {

template <class D>
struct Lists {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> ids;
  std::vector<D> distances;

  // RadiusNeighbors, or what has its members.
  template <class Found>
  requires std::same_as<decltype(Found::distances), std::vector<D>>
  explicit Lists(Found found)
      : offsets(std::move(found.offsets)), ids(std::move(found.ids)), distances(std::move(found.distances)) {}
  explicit Lists(Graph<D>&& graph)
      : offsets(std::move(graph.indptr)), ids(std::move(graph.indices)), distances(std::move(graph.data)) {}
};

template <class D>
std::vector<D> rounded_radii(const double* radii, std::int64_t count) {
  std::vector<D> rounded;
  for (const double radius : span_of(radii, count, "radii")) rounded.push_back(static_cast<D>(radius));
  return rounded;
}

inline RadiusOutput radius_output(std::int32_t count_only) {
  return count_only != 0 ? RadiusOutput::count_only : RadiusOutput::neighbors;
}

inline Symmetrize symmetrize_of(const char* name) {
  return name == nullptr ? Symmetrize::none : parse_symmetrize(name);
}

kith_lists* make_lists(std::variant<Lists<float>, Lists<double>>&& lists);

}  // namespace kith::c
