// pair_lengths.hpp: lengths between all points of two sets.
#pragma once

#include "cuda/triangle/space.hpp"

namespace kith::KITH_BACKEND::triangle {

// Rows of both are padded; lengths[i · right_count + j] is that of left row i and right row j.
template <class F>
void pair_lengths(const Space<F>& space, const F* left, std::int64_t left_count, const F* right,
                  std::int64_t right_count, double* lengths, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
