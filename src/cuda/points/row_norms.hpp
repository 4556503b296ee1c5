// row_norms.hpp: means and squared norms of rows, as exact keys need them (core/key.hpp).
#pragma once

#include "cuda/points/point_rows.hpp"

namespace kith::KITH_BACKEND::inline points {

// Writes means and squared norms of rows, as ExactSet has them; `means` may be null.
template <class F>
void row_facts(const PointRows<F>& rows, std::int64_t dims, double* square_norms, double* means, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::inline points
