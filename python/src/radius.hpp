// radius.hpp: radii in, neighbors out.
#pragma once

#include <span>
#include <utility>

#include "buffer.hpp"
#include "kith/radius.hpp"
#include "owned_array.hpp"

namespace kith::python {

template <class D>
std::span<const D> radii_of(const Buffer& buffer) {
  return {buffer.output<D>(buffer.rows()), static_cast<std::size_t>(buffer.rows())};
}

// (offsets, ids, distances, report)
template <class D>
nb::tuple radius_tuple(RadiusNeighbors<D> found) {
  return nb::make_tuple(owned_array(std::move(found.offsets)), owned_array(std::move(found.ids)),
                        owned_array(std::move(found.distances)), std::move(found.report));
}

}  // namespace kith::python
