// surviving_fraction.hpp: how much method triangle would have to compute, estimated from a sample of points and
// queries. Idea    Sampled points get their nearest landmark, sampled queries a bound from their neighbors in the
// sample; then
//         every pair of them can be asked whether the bound rules it out.
#pragma once

#include "cpu/prepared_rows.hpp"
#include "plan/triangle_costs.hpp"

namespace kith::cpu {

template <Element T>
plan::SurvivingFractions surviving_fractions(const PreparedRows<T>& base, const PreparedRows<T>& queries,
                                             std::int64_t k, std::int64_t landmarks);

}  // namespace kith::cpu
