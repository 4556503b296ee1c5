// rerank.hpp: the candidates of a fused pass become neighbors: the best by score get exact keys and join the query's
// list, in one kernel.
// Idea    a warp takes a query where lists and widths fit its registers (up to 128), else a block, which finds the last
//         score that gets a key by radix selection in shared memory. Of a list only what it holds is read.
// Cost    a query: its candidates read once, `width` rows of the base, its list read and written once. Rows are what
//         takes time from some dozens on.
// Limits  shared memory holds the keys of candidates and list twice: can_rerank(). Entries are ordered by (key, id),
//         NaN last.
#pragma once

#include "cuda/brute/candidates.hpp"
#include "cuda/distance/exact_keys.hpp"
#include "cuda/distance/fused_filter.hpp"

namespace kith::KITH_BACKEND::brute {

// The id of an entry that does not exist, whose key is infinite.
constexpr unsigned kNoNeighbor = 0xFFFFFFFFU;

struct RerankCall {
  // Exact rows of the queries and of the base tile.
  distance::KeyCall<float> keys;
  // Candidates of each query in any order, none twice; ids less lists.first_id are rows of the base tile. The lists of
  // a pass that let more pass than the capacity are full.
  distance::CandidateLists<float> lists;
  // How many candidates get a key: the first by (score, id).
  std::int64_t width = 1;
  // Whether points that did not pass the limits are provably no neighbors (bounded_limits.hpp).
  bool bounded = false;
  // Lists of the tiles before. All k entries are written: those that do not exist get key +infinity and id kNoNeighbor.
  RunningLists<float> running;
  // There are no tiles before: left_out has no values yet, and *failed_count is set to 0.
  bool first = false;
  unsigned* failed_count = nullptr;
  unsigned first_id = 0;  // of the base tile, in the whole base
  // One a query: the least score that a point without a key may have (candidates.hpp). It is lowered to the last score
  // that got a key, unless all points of the tile got one, and to −infinity where no certificate can hold: where more
  // candidates passed than the capacity, or fewer than `width`. With `bounded` it stays as it is unless more passed
  // than the capacity or `width`, where it becomes −infinity.
  float* left_out = nullptr;
};

// Whether the device's shared memory suffices.
bool can_rerank(std::int64_t k, std::int64_t width);

// Queries whose left_out becomes −infinity get what their candidates give too: if their lists have k entries, the last
// key is not below the true one's.
void rerank(const RerankCall& call);

}  // namespace kith::KITH_BACKEND::brute
