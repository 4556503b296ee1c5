// landmarks.hpp: the centers of clusters: rows drawn at random, several times, of which the draw whose rows lie
// farthest apart is taken (Chen et al., section III-A).
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/prepared_rows.hpp"

namespace kith::cpu {

// `count` distinct rows of [first, first + rows), ascending: one of each of as many equal parts, so that sorted sets
// are covered. Of ten draws the one with the largest sum of pairwise lengths is taken; where a draw has more than 128
// rows, the sum is that of 128 of them. The same rows for the same input.
template <Element T>
std::vector<std::int64_t> draw_landmarks(const PreparedRows<T>& set, std::int64_t first, std::int64_t rows,
                                         std::int64_t count);

// One draw alone.
std::vector<std::int64_t> draw_rows(std::int64_t first, std::int64_t rows, std::int64_t count, std::uint64_t seed);

}  // namespace kith::cpu
