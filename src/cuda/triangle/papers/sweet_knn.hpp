// sweet_knn.hpp: level 2 as the paper has it (Chen et al., Algorithm 2): a thread, or several, takes a query from point
// to point. Kept beside the windows for comparison.
#pragma once

#include "cuda/triangle/survivors.hpp"

namespace kith::KITH_BACKEND::triangle {

struct SweetKnnShape {
  enum class Placement { registers, shared, global };

  bool partial = false;  // the reach stays, survivors are stored; else lists are kept and the reach follows them
  Placement placement = Placement::global;
  bool interleaved = true;  // lists in memory: neighboring threads' slots beside each other (figure 6 b)
  bool remapped = true;     // neighboring threads have queries of one cluster, where all queries are there at once
  unsigned threads = 1;     // of a query
  unsigned inner = 1;       // of them share a cluster's members; the others take other clusters
};

// From what was asked for; members of a cluster are about base_points / base_clusters. Throws Error(invalid_argument)
// for k neighbors that do not fit the placement, or too many threads.
SweetKnnShape paper_shape(const TriangleTuning& tuning, std::int64_t k, std::size_t key_bytes, std::int64_t base_points,
                          std::int64_t base_clusters);

// Scratch memory is within `budget` bytes, 0 for no limit. `select` is a selection method.
template <class F>
void search_paper(const Level2<F>& work, std::int64_t all_queries, const SweetKnnShape& shape,
                  const std::string& select, std::size_t budget, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
