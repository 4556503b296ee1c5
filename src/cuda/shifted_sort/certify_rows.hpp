// certify_rows.hpp: which rows of an answer are proven to be those of an exact search (core/curve_certificate.hpp).
#pragma once

#include "cuda/shifted_sort/curve_search.hpp"
#include "kith/metric.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// An answer of `search`, by whichever merge: k keys and ids in the row that a query's id names, and its flag.
template <class F>
struct CertifiedRows {
  const F* keys;
  const std::int64_t* ids;
  std::uint8_t* certified;
};

// Sets the flags to 1 or 0. search.window is what the merge looked at on either side.
template <class F>
void certify_rows(const CurveSearch<F>& search, const Metric& metric, const CertifiedRows<F>& rows,
                  cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::shifted_sort
