// counters.hpp: counters of kernels, for statistics; fields are those of TriangleStatistics.
#pragma once

namespace kith::KITH_BACKEND::triangle {

struct TriangleCounters {
  unsigned long long pairs_level_1 = 0;
  unsigned long long cluster_pairs_left = 0;
  unsigned long long clusters_visited = 0;
  unsigned long long center_distances = 0;
  unsigned long long distances = 0;
  unsigned long long keys = 0;  // exact keys
};

// Blocks spread over so many counters, which the host adds up: atomics on a single one would serialize them.
constexpr unsigned kCounterSlots = 128;

}  // namespace kith::KITH_BACKEND::triangle
