// counters.hpp: what kernels count of their work where statistics are asked for; fields as TriangleStatistics has them.
#pragma once

namespace kith::KITH_BACKEND::triangle {

struct TriangleCounters {
  unsigned long long pairs_level_1 = 0;
  unsigned long long cluster_pairs_left = 0;
  unsigned long long clusters_visited = 0;
  unsigned long long center_distances = 0;
  unsigned long long distances = 0;
  unsigned long long keys = 0;  // exact ones
};

// Blocks take turns with so many counters, which are added up in the end: one would keep them waiting.
constexpr unsigned kCounterSlots = 128;

}  // namespace kith::KITH_BACKEND::triangle
