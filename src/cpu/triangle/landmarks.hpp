// landmarks.hpp: the rows that become centers of clusters: of several random draws, the one whose rows lie farthest
// apart (Chen et al. Sweet KNN, section III-A).
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/prepared_rows.hpp"

namespace kith::cpu {

// Draws `count` distinct rows of [first, first + rows), ascending: one of each of as many equal parts, so that sorted
// sets are covered. Of ten draws the one with the largest sum of pairwise distances is taken; where a draw has more
// than 128 rows, the sum is that of 128 of them. Deterministic.
template <Element T>
std::vector<std::int64_t> choose_landmarks(const PreparedRows<T>& set, std::int64_t first, std::int64_t rows,
                                           std::int64_t count);

// A single draw.
std::vector<std::int64_t> draw_rows(std::int64_t first, std::int64_t rows, std::int64_t count, std::uint64_t seed);

}  // namespace kith::cpu
