// radius_hits.hpp: the small steps of a radius search, from pairs with exact keys to hits.
#pragma once

#include "core/key.hpp"
#include "cuda/primitives/device_sort.hpp"

namespace kith::KITH_BACKEND::radius {

// Pairs with their keys. Queries and ids count from the first of their tile.
template <class F>
struct KeyedPairs {
  const unsigned* queries = nullptr;
  const unsigned* ids = nullptr;
  const F* keys = nullptr;
  std::int64_t count = 0;
};

template <class F>
struct HitRule {
  const F* radii = nullptr;  // keys, one a query
  unsigned first_id = 0;     // of the points
  // Where queries are points of the base, which are not their own neighbors: the id of the first; ids of the others
  // follow.
  std::int64_t first_self = -1;
};

// Adds the pairs of query q that are within its radius to counts[q], and writes them to labeled[i] with segment q and
// the id of their point in the whole base; pairs outside get segment `queries`. labeled = null: hits are only counted.
template <class F>
void label_hits(const KeyedPairs<F>& pairs, const HitRule<F>& rule, std::int64_t queries, unsigned* counts,
                LabeledKey<OrderOf<F>>* labeled, cudaStream_t stream);

// Splits sorted hits into returned distances and ids.
template <class F>
void split_hits(const Metric& metric, const LabeledKey<OrderOf<F>>* hits, std::int64_t count, F* distances,
                unsigned* ids, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::radius
