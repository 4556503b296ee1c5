// surviving_fraction.hpp: the fraction of distances that method triangle would compute, estimated from a sample.
#pragma once

#include "cuda/triangle/space.hpp"

namespace kith::KITH_BACKEND::triangle {

// Counts the pairs of a sampled query and a sampled point whose distances to the point's center differ by at most the
// query's search bound. That is the distance of the neighbor of the same rank in the sample, or of the first: an
// overestimate. `landmarks` are those of the base in the search. Drawn rows take at most `budget` bytes (0: no limit),
// but some are drawn in any case. Points are working rows; `same` says that the queries are the base, and do not count
// as their own neighbors. Waits for the stream.
template <class F>
double surviving_fraction(const Space<F>& space, const PointRows<F>& base, const PointRows<F>& queries, bool same,
                          std::int64_t k, std::int64_t landmarks, std::size_t budget, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
