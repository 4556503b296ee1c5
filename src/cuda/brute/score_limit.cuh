// score_limit.cuh: the score above which every point is provably farther than the k-th of a query's list: what
// certificates compare with, and what limits of a second pass are.
#pragma once

#include "cuda/brute/candidates.hpp"
#include "cuda/brute/fp16_certificate.hpp"

namespace kith::KITH_BACKEND::brute {

__device__ __forceinline__ double norm_of(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}

template <class AnyCertificate>
__device__ __forceinline__ auto kth_key(const AnyCertificate& certificate, std::int64_t query) {
  return certificate.keys[query * certificate.k + certificate.k - 1];
}

// ‖x‖², or 0 where scores need no norms.
template <class F>
__device__ __forceinline__ double query_square_norm(const Certificate<F>& certificate, std::int64_t query) {
  return certificate.max_squared_norm == nullptr ? 0.0 : certificate.query_square_norms[query];
}

template <class F>
__device__ F score_limit(const Certificate<F>& certificate, std::int64_t query) {
  const core::ScoreBounds<F>& bounds = certificate.bounds;
  const double norm = query_square_norm(certificate, query);
  const double max_squared_norm =
      certificate.max_squared_norm == nullptr ? 0.0 : norm_of(*certificate.max_squared_norm);
  return bounds.computed_limit(bounds.true_limit(kth_key(certificate, query), norm),
                               bounds.error(norm, max_squared_norm));
}

__device__ inline float score_limit(const Fp16Certificate& certificate, std::int64_t query) {
  const core::Fp16Norms x = certificate.queries.norms[query];
  const Fp16MaxNorms& max_norms = *certificate.max_norms;
  const core::Fp16Norms y{norm_of(max_norms.exact), norm_of(max_norms.rounded), norm_of(max_norms.lost),
                          norm_of(max_norms.remainder), norm_of(max_norms.split_lost)};
  // Points are centered, so the query's norm must be that of the centered query; a lower bound of it raises the limit.
  const double limit = certificate.bounds.true_limit(kth_key(certificate, query), certificate.fp16.square_below(x));
  return certificate.bounds.computed_limit(limit, certificate.fp16.error(x, y));
}

}  // namespace kith::KITH_BACKEND::brute
