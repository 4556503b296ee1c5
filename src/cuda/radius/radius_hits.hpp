// radius_hits.hpp: the small steps of a radius search: limits for scores, and what pairs become once they have keys.
#pragma once

#include "core/score_bounds.hpp"
#include "cuda/primitives/device_sort.hpp"

namespace kith::KITH_BACKEND::radius {

// What radii say of scores: those above limits[q] have keys above the radius for certain.
template <class F>
struct RadiusLimits {
  core::ScoreBounds<F> bounds;
  const F* radii = nullptr;                              // keys, one a query
  const double* query_square_norms = nullptr;            // null where scores have no absolute error
  const unsigned long long* max_squared_norm = nullptr;  // base point; the same
  F* limits = nullptr;
};

template <class F>
void find_radius_limits(const RadiusLimits<F>& what, std::int64_t queries, cudaStream_t stream);

// Pairs with their keys, of queries and of points that are counted from the first of a tile.
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
  // Where queries are points of the base, none is its own neighbor: the number of the first, which the others follow.
  std::int64_t first_self = -1;
};

// Adds to counts[q] the pairs that are within. Those become labeled[i] with segment q and the number of their point in
// all of the base, the others get segment `queries`; null: they are only counted.
template <class F>
void label_hits(const KeyedPairs<F>& pairs, const HitRule<F>& rule, std::int64_t queries, unsigned* counts,
                LabeledKey<OrderOf<F>>* labeled, cudaStream_t stream);

// Of hits that are sorted: what is returned, and the ids.
template <class F>
void split_hits(const Metric& metric, const LabeledKey<OrderOf<F>>* hits, std::int64_t count, F* distances,
                unsigned* ids, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::radius
