// tensor_tiles.hpp: how a pass over all pairs is divided among the multiprocessors (cuda/tensor/), as far as the
// planner must know it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kith::core {

constexpr std::int64_t kTensorTilePoints = 128;     // base points of a tile
constexpr std::int64_t kTensorSampleQueries = 192;  // queries of a block that samples

// Whether a pass over all pairs of points of one set multiplies each pair once and tests the product for both of its
// points: a test costs as much as products of the bytes that tensor cores take at a time. Rows are fp16.
constexpr bool tests_both_points(std::int64_t points, std::int64_t row_bytes) {
  constexpr std::int64_t kChunk = 128;
  return points > kTensorTilePoints && row_bytes > kChunk;
}

// Parts of the base, at least so many, that take the least time: with many, starting them, which costs as much as a few
// tiles, counts; with few, multiprocessors idle at the end.
inline std::int64_t best_parts(std::int64_t groups, std::int64_t tiles, std::int64_t multiprocessors,
                               std::int64_t least = 1) {
  constexpr std::int64_t kStart = 4;
  const auto ceil_div = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t most = std::min(tiles, 2 * least + 16 * multiprocessors / groups + 16);
  std::int64_t best = least;
  std::int64_t best_cost = 0;
  for (std::int64_t parts = least; parts <= most; ++parts) {
    const std::int64_t cost = ceil_div(groups * parts, multiprocessors) * (ceil_div(tiles, parts) + kStart);
    if (parts > least && cost >= best_cost) continue;
    best = parts;
    best_cost = cost;
  }
  return best;
}

// Parts of a sample, each of as many groups as a tile has points, so that few of the `rank` best scores share a group.
inline std::int64_t sample_parts(std::int64_t queries, std::int64_t samples, std::int64_t rank,
                                 std::int64_t multiprocessors) {
  constexpr std::int64_t kGroupsOfRank = 16;
  const std::int64_t tiles = (samples + kTensorTilePoints - 1) / kTensorTilePoints;
  const std::int64_t wanted =
      (kGroupsOfRank * std::max<std::int64_t>(1, rank) + kTensorTilePoints - 1) / kTensorTilePoints;
  const std::int64_t least = std::max<std::int64_t>(1, std::min(tiles, wanted));
  const std::int64_t query_groups =
      std::max<std::int64_t>(1, (queries + kTensorSampleQueries - 1) / kTensorSampleQueries);
  return best_parts(query_groups, tiles, multiprocessors, least);
}

}  // namespace kith::core
