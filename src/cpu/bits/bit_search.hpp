// bit_search.hpp: exact searches among packed bits on all threads; tasks are a block of queries and a part of the base.
#pragma once

#include "backend/bits.hpp"

namespace kith::cpu {

// See backend::BackendBitIndex.
std::int64_t bit_search(const BitsView& base, const backend::BitQueries& queries, const BitPlan& plan,
                        const NeighborsView<float>& out);
std::int64_t bit_radius_search(const BitsView& base, const backend::BitQueries& queries, const BitPlan& plan,
                               const core::RadiusQuery<float>& radii, const RadiusLists<float>& out);

}  // namespace kith::cpu
