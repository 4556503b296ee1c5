// near_reduction.hpp: curve_search() whose neighbors are reduced where they are found.
#pragma once

#include "cuda/reduce/reduction.hpp"
#include "cuda/shifted_sort/curve_search.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// Rows of the answer as the queries' ids say.
template <class F>
void search_reduced(const CurveSearch<F>& search, const reduce::NearReduction<F>& reduction, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::shifted_sort
