// distance_matrix.hpp: all distances between queries and base, by the exact key's formula.
#pragma once

#include "cpu/prepared_rows.hpp"
#include "kith/options.hpp"

namespace kith::cpu {

// Fills queries × base distances, row-major.
template <Element T>
void distance_matrix(const PreparedRows<T>& base, const PreparedRows<T>& queries, int threads,
                     const ProgressCallback& progress, DistanceOf<T>* out);

}  // namespace kith::cpu
