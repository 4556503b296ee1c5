// level2.hpp: the neighbors of single queries among the clusters that level 1 left (Chen et al., section II-C, step
// 3).
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/triangle/exact_key.hpp"
#include "cuda/triangle/level1.hpp"

namespace kith::KITH_BACKEND::triangle {

// Queries are those at positions first … first + count − 1 of their clusters, all of clusters that `level1` has.
template <class F>
struct Level2 {
  Space<F> space;
  ClusterView<F> queries;
  ClusterView<F> base;
  KeySource<F> source;
  Level1 level1;
  std::int64_t first = 0;
  std::int64_t count = 0;
  unsigned k = 1;
  F* keys = nullptr;  // k a query, by its number: the answer
  unsigned* ids = nullptr;
  TriangleCounters* counters = nullptr;  // kCounterSlots of them; may be null
};

}  // namespace kith::KITH_BACKEND::triangle
