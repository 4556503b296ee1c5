// candidates.hpp: the steps between the distance stage and the answer: candidates join the lists of queries, and
// certificates prove that no point left out can be a neighbor.
#pragma once

#include "core/score_bounds.hpp"
#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::brute {

// The neighbors that queries have so far, sorted by (key, id): `count` in rows of k.
template <class F>
struct RunningLists {
  F* keys = nullptr;
  unsigned* ids = nullptr;
  std::int64_t k = 0;
  std::int64_t count = 0;
};

// Candidates of a tile, in packed rows of `count` a query.
template <class F>
struct TileCandidates {
  const F* keys = nullptr;
  const std::int64_t* columns = nullptr;  // indices in the tile
  std::int64_t count = 0;
  unsigned first_id = 0;  // of the tile
};

// Writes rows of lists.count + candidates.count keys and ids: each query's list, then its candidates.
template <class F>
void join_lists(const RunningLists<F>& lists, const TileCandidates<F>& candidates, std::int64_t queries, F* keys,
                unsigned* ids, cudaStream_t stream);

// Copies selected keys and ids, packed rows of lists.count, to the lists.
template <class F>
void keep_lists(const F* keys, const std::int64_t* ids, std::int64_t queries, const RunningLists<F>& lists,
                cudaStream_t stream);

// Lowers left_out[q], the least score that a point without a key may have, to the last of the query's `count` selected
// scores of a tile.
template <class F>
void note_left_out(const F* scores, std::int64_t count, std::int64_t queries, F* left_out, cudaStream_t stream);

// Sets left_out[q] to infinity, and *failed_count to 0.
template <class F>
void begin_left_out(F* left_out, std::int64_t queries, unsigned* failed_count, cudaStream_t stream);

// Turns keys into returned distances, in place: inner products get their sign back.
template <class F>
void return_values(const Metric& metric, F* keys, std::int64_t count, cudaStream_t stream);

// Turns keys and ids of 32 bits into returned distances and ids.
template <class F>
void return_answer(const Metric& metric, const F* keys, const unsigned* found, std::int64_t count, F* distances,
                   std::int64_t* ids, cudaStream_t stream);

// A query's certificate: every point that was left out is provably farther than the k-th neighbor.
template <class F>
struct Certificate {
  core::ScoreBounds<F> bounds;
  const F* keys = nullptr;  // the lists, sorted rows of k
  std::int64_t k = 0;
  const F* left_out = nullptr;
  const double* query_square_norms = nullptr;            // null where scores have no absolute error
  const unsigned long long* max_squared_norm = nullptr;  // of the base, as bits; null in the same case
};

// The queries without a certificate, in any order.
struct FailedQueries {
  unsigned* queries = nullptr;
  unsigned* count = nullptr;       // on the device; starts at 0
  unsigned* host_count = nullptr;  // pinned: where the count arrives
};

// Appends the queries whose lists may be wrong, of at least one.
template <class F>
void certify(const Certificate<F>& certificate, std::int64_t queries, const FailedQueries& failed, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::brute
