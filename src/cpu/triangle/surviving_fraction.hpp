// surviving_fraction.hpp: the fractions of distances and of clusters that method triangle would have to look at,
// estimated from a sample.
// Idea    sampled points get their nearest landmark, sampled queries a search bound from their neighbors in the sample;
//         pairs that the bound does not rule out are counted.
#pragma once

#include "core/triangle_sample.hpp"
#include "cpu/prepared_rows.hpp"

namespace kith::cpu {

template <Element T>
core::SurvivingFractions surviving_fractions(const PreparedRows<T>& base, const PreparedRows<T>& queries,
                                             std::int64_t k, std::int64_t landmarks);

}  // namespace kith::cpu
