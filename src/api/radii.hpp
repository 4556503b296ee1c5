// radii.hpp: radii as keys, for searches of dense and of sparse points.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <span>

#include "core/radius_query.hpp"
#include "kith/error.hpp"

namespace kith::api {

// Throws Error(invalid_argument) for radii that are negative, NaN, or neither one nor one for each query.
// `products`: the metric is inner_product, whose radii are least products.
template <class D>
core::RadiusQuery<D> checked_radii(std::span<const D> radii, std::int64_t queries, bool products) {
  const auto count = static_cast<std::int64_t>(radii.size());
  if (count != 1 && count != queries)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} radii for {} queries; one for all or one for each is needed", count, queries));
  core::RadiusQuery<D> query;
  query.keys.reserve(radii.size());
  for (const D radius : radii) {
    if (std::isnan(radius) || (radius < 0 && !products))
      throw Error(ErrorCode::invalid_argument, fmt::format("radius = {} of query {}; it must be {}", radius,
                                                           query.keys.size(), products ? "a number" : "0 or more"));
    query.keys.push_back(products ? -radius : radius);
  }
  return query;
}

}  // namespace kith::api
