// answers.hpp: neighbors that go to host memory, and are copied there.
#pragma once

#include <algorithm>
#include <cstdint>

#include "c/arguments.hpp"

namespace kith::c {

// Room for k neighbors of each query in host memory, of a search that certifies no rows.
template <class D>
NeighborsView<D> host_room(const kith_neighbors* out, std::int64_t queries, std::int64_t k) {
  const NeighborsView<D> view = room<D>(out, queries, k);
  check_host(out->memory);
  api::check_outputs(view.ids, view.distances);
  if (view.certified != nullptr)
    throw Error(ErrorCode::invalid_argument, "this search certifies no rows; certified must be null");
  return view;
}

// `found` has vectors `ids` and `distances`.
template <class Found, class D>
void copy_neighbors(const Found& found, const NeighborsView<D>& out) {
  std::copy(found.ids.begin(), found.ids.end(), out.ids);
  std::copy(found.distances.begin(), found.distances.end(), out.distances);
}

}  // namespace kith::c
