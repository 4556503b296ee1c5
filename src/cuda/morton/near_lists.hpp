// near_lists.hpp: curve_search() into lists of neighbours.
#pragma once

#include "cuda/morton/curve_search.hpp"

namespace kith::KITH_BACKEND {

// keys and ids: k a row, rows as the queries' ids say.
template <class F>
void search_lists(const CurveSearch<F>& search, F* keys, std::int64_t* ids, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND
