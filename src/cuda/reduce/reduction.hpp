// reduction.hpp: reductions of the neighbors of each query (core/reduction.hpp) on the device, from lists of neighbors.
#pragma once

#include "core/reduction.hpp"
#include "cuda/distance/scores.hpp"

namespace kith::KITH_BACKEND::reduce {

template <class F>
struct NeighborReduction {
  core::Reduction what;
  PointRows<F> values;  // a row of what.columns a base point; no data where the operation needs none
  F* out = nullptr;     // a row of core::reduced_columns() a query
};

// Rows of what.k neighbors a query, sorted by (distance, id).
template <class F>
struct NeighborLists {
  const F* distances = nullptr;
  const std::int64_t* ids = nullptr;
  std::int64_t count = 0;  // of queries
};

// Reduces each list to a row of the answer. Ids are rows of the base.
template <class F>
void reduce_lists(const NeighborLists<F>& lists, const PointRows<F>& base, const NeighborReduction<F>& reduction,
                  cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::reduce
