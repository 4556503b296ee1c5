// bag_bounds.hpp: lower bounds of edit distances by how often symbols occur.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith::cpu {

// Of each of `count` texts, whose 32 counts lie `stride` bytes apart: the larger of the numbers of symbols that
// `counts` has beyond it, and that it has beyond `counts`.
void bag_bounds(const std::uint8_t* counts, const std::uint8_t* others, std::size_t stride, std::int64_t count,
                double* out);

}  // namespace kith::cpu
