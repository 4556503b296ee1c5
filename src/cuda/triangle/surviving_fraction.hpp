// surviving_fraction.hpp: how much of a search the triangle inequality would leave, from a sample.
#pragma once

#include "cuda/triangle/space.hpp"

namespace kith::KITH_BACKEND::triangle {

// The share of distances, from 0 to 1, that level 2 would compute: pairs of a sampled query and a sampled point whose
// lengths to the point's center differ by no more than the query's reach. The reach is the length of the neighbor of
// the same rank in the sample, or of the first: too long rather than too short. `landmarks` are those of the base in
// the search; rows that are drawn take no more than `budget` bytes (0: no limit), but there are some in any case.
// Points are working rows; `same` are queries that are the base, which do not count as their own neighbors. Waits for
// the stream.
template <class F>
double surviving_fraction(const Space<F>& space, const PointRows<F>& base, const PointRows<F>& queries, bool same,
                          std::int64_t k, std::int64_t landmarks, std::size_t budget, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
