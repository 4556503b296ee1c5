// radius_search.hpp: all base points within each query's radius, exact.
#pragma once

#include "core/radius_query.hpp"
#include "cpu/prepared_rows.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"
#include "kith/radius.hpp"

namespace kith::cpu {

// Searches by the tiles of the plan, into lists of the host. Throws Error(out_of_memory) when there are more than
// max_hits. Returns how many exact keys were computed.
template <Element T>
std::int64_t radius_search(const PreparedRows<T>& base, const PreparedRows<T>& queries, const Plan& plan,
                           const core::RadiusQuery<DistanceOf<T>>& request, const ProgressCallback& progress,
                           const RadiusLists<DistanceOf<T>>& out);

}  // namespace kith::cpu
