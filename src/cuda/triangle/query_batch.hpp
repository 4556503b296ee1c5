// query_batch.hpp: what level 2 is given: it finds the neighbors of single queries among the clusters that level 1 left
// (Chen et al. Sweet KNN, section II-C, step 3).
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/triangle/candidate_clusters.hpp"
#include "cuda/triangle/exact_key.hpp"

namespace kith::KITH_BACKEND::triangle {

// Queries are those at positions first … first + count − 1 of their clusters, all of clusters that `candidates` covers.
template <class F>
struct QueryBatch {
  Space<F> space;
  ClusterView<F> queries;
  ClusterView<F> base;
  ExactKeySource<F> source;
  CandidateClusters candidates;
  std::int64_t first = 0;
  std::int64_t count = 0;
  unsigned k = 1;
  F* keys = nullptr;  // the answer: k keys and ids a query, in rows by the query's id
  unsigned* ids = nullptr;
  TriangleCounters* counters = nullptr;  // kCounterSlots of them, or null
};

}  // namespace kith::KITH_BACKEND::triangle
