// radius_search.hpp: all base points within each query's radius, exact.
#pragma once

#include "core/radius_query.hpp"
#include "cpu/prepared_rows.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"

namespace kith::cpu {

// Searches by the tiles of the plan. Throws Error(out_of_memory) when there are more than most_hits.
template <Element T>
core::RadiusResult<DistanceOf<T>> radius_search(const PreparedRows<T>& base, const PreparedRows<T>& queries,
                                                const Plan& plan, const core::RadiusQuery<DistanceOf<T>>& request,
                                                const ProgressCallback& progress);

}  // namespace kith::cpu
