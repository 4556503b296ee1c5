#include "cuda/search/half_certificate.hpp"

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND {
namespace {

constexpr unsigned kThreads = 256;

__device__ double length_of(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}

__global__ void __launch_bounds__(kThreads)
    certify_halfs_kernel(HalfCertificate certificate, unsigned* failed, unsigned* failed_count) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (query >= certificate.queries.count) return;
  const core::HalfNorms x = certificate.queries.norms[query];
  const HalfLongest& longest = *certificate.longest;
  const core::HalfNorms y{length_of(longest.exact), length_of(longest.rounded), length_of(longest.lost)};
  const float last = certificate.keys[query * certificate.k + certificate.k - 1];
  // Squares are of points less their centre, so the query's square norm is too; less of it raises the limit.
  const double limit = certificate.bounds.true_limit(last, certificate.halfs.square_below(x));
  // Written so that NaN fails.
  if (certificate.left_out[query] > certificate.bounds.computed_limit(limit, certificate.halfs.error(x, y))) return;
  failed[atomicAdd(failed_count, 1U)] = static_cast<unsigned>(query);
}

}  // namespace

void certify_halfs(const HalfCertificate& certificate, unsigned* failed, unsigned* failed_count, cudaStream_t stream) {
  launch("certify_halfs", certify_halfs_kernel,
         {.blocks = ceil_div(certificate.queries.count, kThreads), .threads = kThreads}, stream, certificate, failed,
         failed_count);
}

}  // namespace kith::KITH_BACKEND
