// pair_distances.hpp: metric distances between all points of two sets, a team of lanes a pair.
#pragma once

#include "cuda/triangle/space.hpp"

namespace kith::KITH_BACKEND::triangle {

// distances[i · right_count + j] is that of left row i and right row j; rows of both are padded.
template <class F>
void pair_distances(const Space<F>& space, const F* left, std::int64_t left_count, const F* right,
                    std::int64_t right_count, double* distances, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
