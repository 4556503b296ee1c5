// candidate_clusters.hpp: level 1: the base clusters that may hold neighbors of some query of a cluster (Chen et al.
// Sweet KNN, section II-C, step 2).
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/triangle/clusters.hpp"
#include "cuda/triangle/counters.hpp"

namespace kith::KITH_BACKEND::triangle {

// One row of `stride` columns for each of the query clusters first … first + count − 1.
struct CandidateClusters {
  unsigned first = 0;
  unsigned count = 0;
  unsigned stride = 0;
  double* center_distances = nullptr;  // by base cluster: the distance of both centers
  unsigned* clusters = nullptr;        // the base clusters that are left, near centers first in each 2048
  unsigned* counts = nullptr;          // one a row: how many are left
  double* search_bounds = nullptr;     // one a row: no neighbor of the cluster's queries is farther away

  static std::int64_t row_bytes(std::int64_t base_clusters) {
    return base_clusters * static_cast<std::int64_t>(sizeof(double) + sizeof(unsigned)) + 64;
  }
};

// Enqueues the work; takes memory from the workspace. `counters`, kCounterSlots of them, may be null.
template <class F>
CandidateClusters find_candidate_clusters(const Space<F>& space, const ClusterView<F>& queries,
                                          const ClusterView<F>& base, unsigned k, unsigned first, unsigned count,
                                          TriangleCounters* counters, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::triangle
