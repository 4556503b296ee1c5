// near_lists.hpp: curve_search() into lists of neighbors.
#pragma once

#include "cuda/shifted_sort/curve_search.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// keys and ids: k a row, rows as the queries' ids say.
template <class F>
void search_lists(const CurveSearch<F>& search, F* keys, std::int64_t* ids, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::shifted_sort
