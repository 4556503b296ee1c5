// radius_search.hpp: all base points within each query's radius.
#pragma once

#include "core/radius_query.hpp"
#include "cpu/prepared_rows.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"

namespace kith::cpu {

// By the tiles of the plan. Throws Error(out_of_memory) when there are more than most_hits.
template <Element T>
core::RadiusResult<DistanceOf<T>> radius_search(const PreparedRows<T>& base, const PreparedRows<T>& queries,
                                                const Plan& plan, const core::RadiusQuery<DistanceOf<T>>& reach,
                                                const ProgressCallback& progress);

}  // namespace kith::cpu
