// reduction.hpp: what is to be made of the neighbors of each query; of those that are in lists it is made here.
#pragma once

#include "core/reduction.hpp"
#include "cuda/distance/scores.hpp"

namespace kith::KITH_BACKEND::reduce {

template <class F>
struct NeighborReduction {
  core::Reduction what;
  PointRows<F> values;  // `what.columns` a base point; no data where the operation has none
  F* out = nullptr;     // core::reduced_columns() a query
};

// `what.k` neighbors a query, by (distance, id).
template <class F>
struct NeighborLists {
  const F* distances = nullptr;
  const std::int64_t* ids = nullptr;
  std::int64_t count = 0;  // of queries
};

// A row of the answer for each list, of neighbors that are rows of the base.
template <class F>
void reduce_lists(const NeighborLists<F>& lists, const PointRows<F>& base, const NeighborReduction<F>& reduction,
                  cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::reduce
