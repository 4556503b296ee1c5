// nearest.hpp: the k nearest points of queries, by walks through a tree.
// Idea    a warp has a query. It scores the points of a leaf, a lane each, computes the exact keys of those that may be
//         among the k best, and keeps these in registers; the k-th key is the limit for boxes and points to come.
//         Queries in the order of the points go to neighboring warps, which find each other's leaves in the cache.
// Limits  k ≤ kMostNearest in one walk; each further walk finds as many of those behind the last one found.
// Cost    in three dimensions 6 (k = 10) to 20 (k = 100) leaves a query.
#pragma once

#include <limits>

#include "cuda/primitives/key.cuh"
#include "cuda/tree/tree_queries.hpp"

namespace kith::KITH_BACKEND::tree {

constexpr unsigned kMostNearest = 1024;

// Writes neighbors from_rank … from_rank + k − 1, in rows of `stride` by the query's number. Those before from_rank are
// there already. Places without a neighbor get NaN and no id of a point.
template <class F>
struct NearestCall {
  TreeQueries<F> queries;
  unsigned k = 1;  // at most kMostNearest
  std::int64_t from_rank = 0;
  std::int64_t stride = 0;
  F max_key = std::numeric_limits<F>::infinity();  // neighbors beyond it need not be found
  const F* limits = nullptr;                       // the same for each query by its number; or null
  // Boxes farther away than the k-th key / (1 + epsilon) are passed over. So are the points in them, each of which is
  // farther than that, and nothing else is missed: the i-th key found is at most (1 + epsilon) times the true i-th.
  double epsilon = 0;
  F* keys = nullptr;
  unsigned* ids = nullptr;
};

template <class F>
void find_nearest(const NearestCall<F>& call, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::tree
