// radius_hits.hpp: the small steps of a radius search: limits of scores, and hits from pairs with exact keys.
#pragma once

#include "core/score_bounds.hpp"
#include "cuda/primitives/device_sort.hpp"

namespace kith::KITH_BACKEND::radius {

// Limits of scores: points of query q with scores above limits[q] have keys above the radius for certain.
template <class F>
struct RadiusLimits {
  core::ScoreBounds<F> bounds;
  const F* radii = nullptr;                              // keys, one a query
  const double* query_square_norms = nullptr;            // null where scores have no absolute error
  const unsigned long long* max_squared_norm = nullptr;  // of the base, as bits; null in the same case
  F* limits = nullptr;
};

template <class F>
void find_radius_limits(const RadiusLimits<F>& radius_limits, std::int64_t queries, cudaStream_t stream);

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
