// sparse_scores.hpp: scores of one query and the rows of a block: for each of the query's coordinates, what it adds to
// the scores of the rows that have that column too. sparse_bounds.hpp says what scores are.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/sparse/postings.hpp"

namespace kith::cpu {

// Scratch of a thread: room for the scores of a block.
template <SparseElement T>
struct ScoreScratch {
  std::vector<T> scores;
  std::vector<std::int32_t> counts;  // under jaccard
};

// Bytes of it for blocks of so many rows.
template <class T>
std::int64_t score_scratch_bytes(SparseMetric metric, std::int64_t block_rows) {
  return block_rows * static_cast<std::int64_t>(sizeof(T) + (metric == SparseMetric::jaccard ? 4 : 0));
}

// A query as scores want it.
template <SparseElement T>
struct ScoredQuery {
  CsrRow<T> row;
  double size;          // CsrRows::sizes
  double factor;        // of coordinates, for products: −1 or −2 by the scale, or by what makes a unit vector
  double least_scaled;  // the smallest magnitude of a scaled coordinate that is not 0, infinite where there is none
};
template <SparseElement T>
ScoredQuery<T> scored_query(const CsrRows<T>& queries, SparseMetric metric, double scale, std::int64_t query);

// Whether −0 tells that a row has no column in common with the query (sparse_candidates.hpp): no product may vanish.
template <SparseElement T>
bool tells_zeros(SparseMetric metric, const ScoredQuery<T>& query, const Postings<T>& block);

// Makes the block.count scores, without bias.
template <SparseElement T>
T* make_scores(SparseMetric metric, const CsrRows<T>& base, const ScoredQuery<T>& query, const Postings<T>& block,
               ScoreScratch<T>& scratch);

}  // namespace kith::cpu
