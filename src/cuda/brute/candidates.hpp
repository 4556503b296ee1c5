// candidates.hpp: what happens to candidates between the distance stage and the answer, for rows of queries at once.
#pragma once

#include "core/score_bounds.hpp"
#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::brute {

// The neighbors that queries have so far, `count` each and k apart, by (key, id).
template <class F>
struct RunningLists {
  F* keys = nullptr;
  unsigned* ids = nullptr;
  std::int64_t k = 0;
  std::int64_t count = 0;
};

// Candidates of a tile, `count` a query, next to each other.
template <class F>
struct TileCandidates {
  const F* keys = nullptr;
  const std::int64_t* places = nullptr;  // in the tile
  std::int64_t count = 0;
  unsigned first_id = 0;  // of the tile
};

// A query's list and its candidates one after the other: rows of lists.count + candidates.count keys and ids.
template <class F>
void join_lists(const RunningLists<F>& lists, const TileCandidates<F>& candidates, std::int64_t queries, F* keys,
                unsigned* ids, cudaStream_t stream);

// Selected keys and ids, `count` a query, become the lists.
template <class F>
void keep_lists(const F* keys, const std::int64_t* ids, std::int64_t queries, const RunningLists<F>& lists,
                cudaStream_t stream);

// left_out[q] becomes the least score that a point without a key may have: scores[q] ends with the `count`-th of a
// tile.
template <class F>
void note_left_out(const F* scores, std::int64_t count, std::int64_t queries, F* left_out, cudaStream_t stream);

// Everything is nothing yet: left_out[q] = infinity.
template <class F>
void begin_left_out(F* left_out, std::int64_t queries, cudaStream_t stream);

// Keys become what is returned, in place: inner products get their sign back.
template <class F>
void return_values(const Metric& metric, F* keys, std::int64_t count, cudaStream_t stream);

// Keys and ids of 32 bits become an answer.
template <class F>
void return_answer(const Metric& metric, const F* keys, const unsigned* found, std::int64_t count, F* distances,
                   std::int64_t* ids, cudaStream_t stream);

// What certify() looks at: is every point that was left out provably farther than the k-th neighbor?
template <class F>
struct Certificate {
  core::ScoreBounds<F> bounds;
  const F* keys = nullptr;  // of the lists, k a query, sorted
  std::int64_t k = 0;
  const F* left_out = nullptr;
  const double* query_square_norms = nullptr;            // null where scores have no absolute error
  const unsigned long long* max_squared_norm = nullptr;  // base point; the same
};

// Appends to `failed` the queries whose lists may be wrong; *failed_count starts at 0.
template <class F>
void certify(const Certificate<F>& certificate, std::int64_t queries, unsigned* failed, unsigned* failed_count,
             cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::brute
