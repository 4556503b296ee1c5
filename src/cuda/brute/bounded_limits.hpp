// bounded_limits.hpp: limits of a second pass from what a first one found: every point whose score exceeds its query's
// limit is provably farther than the k points of the query's list, so that those that pass are all that may be
// neighbors.
// Idea    the limit is what the certificate would compare left_out with (score_limit.cuh).
// Limits  a list without k entries, or norms that are no numbers, give a limit of +infinity: everything passes, too
// much
//         for a list of candidates, and the query goes on to the next pass.
#pragma once

#include "cuda/brute/candidates.hpp"
#include "cuda/brute/fp16_certificate.hpp"

namespace kith::KITH_BACKEND::brute {

// Writes limits[q] of `queries` queries; certificate.left_out is not used.
template <class F>
void bounded_limits(const Certificate<F>& certificate, std::int64_t queries, F* limits, cudaStream_t stream);
// The same for scores of points in fp16, of all queries of the certificate.
void bounded_limits(const Fp16Certificate& certificate, float* limits, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::brute
