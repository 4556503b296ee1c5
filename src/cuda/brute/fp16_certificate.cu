// fp16_certificate.cu: a thread checks a query.
#include "cuda/brute/fp16_certificate.hpp"

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::brute {
namespace {

constexpr unsigned kCertificateThreads = 256;

__device__ double norm_of(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}

__global__ void __launch_bounds__(kCertificateThreads)
    certify_fp16_kernel(Fp16Certificate certificate, unsigned* failed, unsigned* failed_count) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kCertificateThreads + threadIdx.x;
  if (query >= certificate.queries.count) return;
  const core::Fp16Norms x = certificate.queries.norms[query];
  const Fp16MaxNorms& max_norms = *certificate.max_norms;
  const core::Fp16Norms y{norm_of(max_norms.exact), norm_of(max_norms.rounded), norm_of(max_norms.lost)};
  const float last = certificate.keys[query * certificate.k + certificate.k - 1];
  // Points are centered, so the query's norm must be that of the centered query; a lower bound of it raises the limit.
  const double limit = certificate.bounds.true_limit(last, certificate.fp16.square_below(x));
  // The comparison is such that NaN fails.
  if (certificate.left_out[query] > certificate.bounds.computed_limit(limit, certificate.fp16.error(x, y))) return;
  failed[atomicAdd(failed_count, 1U)] = static_cast<unsigned>(query);
}

}  // namespace

void certify_fp16(const Fp16Certificate& certificate, unsigned* failed, unsigned* failed_count, cudaStream_t stream) {
  launch("certify_fp16", certify_fp16_kernel,
         {.blocks = ceil_div(certificate.queries.count, kCertificateThreads), .threads = kCertificateThreads}, stream,
         certificate, failed, failed_count);
}

}  // namespace kith::KITH_BACKEND::brute
