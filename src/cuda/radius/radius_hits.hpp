// radius_hits.hpp: the small steps of a radius search, from pairs with exact keys to hits.
#pragma once

#include "core/key.hpp"
#include "cuda/primitives/device_sort.hpp"
#include "kith/search.hpp"

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
  unsigned queries = 0;
};

// radii[q] becomes `key` for all queries.
template <class F>
void fill_radii(F key, std::int64_t queries, F* radii, cudaStream_t stream);

// Adds the pairs of query q that are within its radius to counts[q], and writes them to labeled[i] with segment q and
// the id of their point in the whole base; pairs outside get segment rule.queries. labeled = null: hits are only
// counted.
template <class F>
void label_hits(const KeyedPairs<F>& pairs, const HitRule<F>& rule, unsigned* counts, LabeledKey<OrderOf<F>>* labeled,
                cudaStream_t stream);

// Splits sorted hits into returned distances and ids.
template <class F>
void split_hits(const Metric& metric, const LabeledKey<OrderOf<F>>* hits, std::int64_t count, F* distances,
                unsigned* ids, cudaStream_t stream);

// Pairs whose number only the device knows, and memory for as many of them as are few.
template <class F>
struct FewPairs {
  static constexpr std::int64_t kMost = 2048;

  const unsigned long long* count = nullptr;
  std::int64_t most = 0;  // at most kMost
  const unsigned* queries = nullptr;
  unsigned* ids = nullptr;  // become those of the hits
  F* keys = nullptr;        // become the hits' distances
  LabeledKey<OrderOf<F>>* labeled = nullptr;
  LabeledKey<OrderOf<F>>* spare = nullptr;
};

// label_hits(), a sort and split_hits() by one block; does nothing where there are more pairs than pairs.most. Without
// pairs.labeled hits are only counted.
template <class F>
void rank_few_hits(const FewPairs<F>& pairs, const HitRule<F>& rule, const Metric& metric, unsigned* counts,
                   cudaStream_t stream);

// All hits of a search, row after row, and their number for each query.
template <class F>
struct HitRows {
  const F* distances = nullptr;
  const unsigned* ids = nullptr;
  std::int64_t hits = 0;
  const unsigned* counts = nullptr;
  std::int64_t queries = 0;
};

// Writes them as an answer; hits are left out where `to` has no memory for them.
template <class F>
void return_rows(const HitRows<F>& rows, std::int64_t* offsets, const NeighborsView<F>& to, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::radius
