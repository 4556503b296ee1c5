// radii.hpp: radii as callers give them, checked.
#pragma once

#include <cstdint>
#include <span>

#include "core/radius_query.hpp"
#include "kith/metric.hpp"

namespace kith::api {

// Throws Error(invalid_argument) for radii that are negative, NaN, or neither one nor one for each query.
template <class D>
core::RadiusQuery<D> radius_query(std::span<const D> radii, std::int64_t queries, const Metric& metric);

}  // namespace kith::api
