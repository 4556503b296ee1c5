// curve_search_reduced.hpp: curve_search() that reduces neighbors where they are found, without writing lists.
#pragma once

#include "cuda/reduce/reduction.hpp"
#include "cuda/shifted_sort/curve_search.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// Writes the reduced values to the row that a query's id names.
template <class F>
void curve_search_reduced(const CurveSearch<F>& search, const reduce::NeighborReduction<F>& reduction,
                          cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::shifted_sort
