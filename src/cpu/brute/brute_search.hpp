// brute_search.hpp: the k nearest of every query by distances to all points, exact.
#pragma once

#include <cstdint>

#include "cpu/prepared_rows.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"

namespace kith::cpu {

// Writes queries × k ids and distances by the tiles of the plan. Returns the number of exact keys.
template <Element T>
std::int64_t brute_search(const PreparedRows<T>& base, const PreparedRows<T>& queries, const Plan& plan,
                          const ProgressCallback& progress, std::int64_t* ids, DistanceOf<T>* distances);

}  // namespace kith::cpu
