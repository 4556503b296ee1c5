// sweet_knn.hpp: level 2 as Chen et al. do it (Sweet KNN, Algorithm 2): one or several threads take a query through the
// members of its candidate clusters, one by one. Serves the comparison with that paper; `auto` never takes it.
#pragma once

#include "cuda/triangle/survivors.hpp"

namespace kith::KITH_BACKEND::triangle {

struct SweetKnnOptions {
  bool partial = false;  // the search bound is fixed and survivors are stored; else it follows the lists of neighbors
  TrianglePlacement placement = TrianglePlacement::global;
  bool interleaved = true;  // slots of neighboring threads' lists are neighbors in memory (figure 6 b)
  bool remapped = true;     // neighboring threads have queries of one cluster, where all queries are there at once
  unsigned threads = 1;     // threads of a query
  unsigned inner = 1;       // threads that share a cluster's members; the others take other clusters
};

// The options that a tuning asks for. Clusters have about base_points / base_clusters members. Throws
// Error(invalid_argument) where k neighbors do not fit the placement, or for too many threads.
SweetKnnOptions sweet_knn_options(const TriangleTuning& tuning, std::int64_t k, std::size_t key_bytes,
                                  std::int64_t base_points, std::int64_t base_clusters);

// Takes at most `budget` bytes of scratch memory, 0 for no limit. `select` is a selection method.
template <class F>
void search_sweet_knn(const QueryBatch<F>& batch, std::int64_t all_queries, const SweetKnnOptions& options,
                      SelectMethod select, std::size_t budget, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
