// radius.hpp: radii as callers give them, checked.
#pragma once

#include <cstdint>
#include <span>

#include "core/radius_query.hpp"
#include "kith/metric.hpp"
#include "kith/radius.hpp"

namespace kith::api {

// Throws Error(invalid_argument) for radii that are negative, NaN, or neither one nor one for each query.
template <class D>
core::RadiusQuery<D> reach_of(std::span<const D> radii, std::int64_t queries, const Metric& metric,
                              RadiusOutput output);

}  // namespace kith::api
