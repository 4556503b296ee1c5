// near_reduction.hpp: curve_search() whose neighbours are reduced where they are found.
#pragma once

#include "core/reduction.hpp"
#include "cuda/morton/curve_search.hpp"

namespace kith::KITH_BACKEND {

template <class F>
struct NearReduction {
  core::Reduction what;
  const F* values = nullptr;  // `what.columns` a base point; null where the operation has none
  F* out = nullptr;           // core::reduced_columns() a query, rows as the queries' ids say
};

template <class F>
void search_reduced(const CurveSearch<F>& search, const NearReduction<F>& reduction, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND
