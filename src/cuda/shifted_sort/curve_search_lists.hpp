// curve_search_lists.hpp: curve_search() that writes lists of neighbors.
#pragma once

#include "cuda/shifted_sort/curve_search.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// Writes k keys and ids to the row that a query's id names.
template <class F>
void curve_search_lists(const CurveSearch<F>& search, F* keys, std::int64_t* ids, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::shifted_sort
