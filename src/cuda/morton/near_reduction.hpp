// near_reduction.hpp: curve_search() whose neighbours are reduced where they are found.
#pragma once

#include "cuda/morton/curve_search.hpp"
#include "cuda/search/reduction.hpp"

namespace kith::KITH_BACKEND {

// Rows of the answer as the queries' ids say.
template <class F>
void search_reduced(const CurveSearch<F>& search, const NearReduction<F>& reduction, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND
