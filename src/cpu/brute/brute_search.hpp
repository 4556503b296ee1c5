// brute_search.hpp: exact search that looks at every point.
#pragma once

#include <cstdint>

#include "cpu/prepared_rows.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"

namespace kith::cpu {

// Fills queries × k ids and distances by the tiles of the plan. Returns how many keys were computed.
template <Element T>
std::int64_t brute_search(const PreparedRows<T>& base, const PreparedRows<T>& queries, const Plan& plan,
                          const ProgressCallback& progress, std::int64_t* ids, DistanceOf<T>* distances);

// Whether ‖y‖² − 2⟨x,y⟩ in working precision can tell the nearest points of this data apart: looks at a sample.
// Where it cannot (tight clusters far from the origin), the direct form is the faster way.
template <Element T>
bool expansion_is_sharp(const PreparedRows<T>& base, const PreparedRows<T>& queries);

}  // namespace kith::cpu
