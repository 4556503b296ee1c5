// level1.hpp: which base clusters may hold neighbors of the queries of a cluster (Chen et al., section II-C, step 2).
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/triangle/clusters.hpp"
#include "cuda/triangle/counters.hpp"

namespace kith::KITH_BACKEND::triangle {

// Of query clusters first … first + count − 1, a row of `stride` places each.
struct Level1 {
  unsigned first = 0;
  unsigned count = 0;
  unsigned stride = 0;
  double* centers = nullptr;     // by base cluster: the length between the centers
  unsigned* clusters = nullptr;  // those of the base that are left, near centers first in each 2048
  unsigned* counts = nullptr;    // how many they are
  double* reaches = nullptr;     // no neighbor of the cluster's queries is farther away

  static std::int64_t row_bytes(std::int64_t base_clusters) {
    return base_clusters * static_cast<std::int64_t>(sizeof(double) + sizeof(unsigned)) + 64;
  }
};

// Enqueues all of it; memory comes from the workspace. `counters`, kCounterSlots of them, may be null.
template <class F>
Level1 filter_clusters(const Space<F>& space, const ClusterView<F>& queries, const ClusterView<F>& base, unsigned k,
                       unsigned first, unsigned count, TriangleCounters* counters, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::triangle
