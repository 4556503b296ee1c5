// bounded_limits.cu: a thread a query.
#include "cuda/brute/bounded_limits.hpp"

#include <limits>

#include "cuda/brute/score_limit.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::brute {
namespace {

template <class AnyCertificate, class F>
__global__ void bounded_limits_kernel(AnyCertificate certificate, std::int64_t queries, F* limits) {
  constexpr F kInfinity = std::numeric_limits<F>::infinity();
  const std::int64_t query = thread_index();
  if (query >= queries) return;
  const F limit = score_limit(certificate, query);
  // Written so that NaN becomes infinite.
  limits[query] = kth_key(certificate, query) < kInfinity && limit < kInfinity ? limit : kInfinity;
}

}  // namespace

template <class F>
void bounded_limits(const Certificate<F>& certificate, std::int64_t queries, F* limits, cudaStream_t stream) {
  launch("bounded_limits", bounded_limits_kernel<Certificate<F>, F>, thread_each(queries), stream, certificate, queries,
         limits);
}

template void bounded_limits(const Certificate<float>&, std::int64_t, float*, cudaStream_t);
template void bounded_limits(const Certificate<double>&, std::int64_t, double*, cudaStream_t);

void bounded_limits(const Fp16Certificate& certificate, float* limits, cudaStream_t stream) {
  launch("bounded_limits", bounded_limits_kernel<Fp16Certificate, float>, thread_each(certificate.queries.count),
         stream, certificate, certificate.queries.count, limits);
}

}  // namespace kith::KITH_BACKEND::brute
