// fp16_certificate.cu: a thread checks a query.
#include "cuda/brute/fp16_certificate.hpp"

#include "cuda/brute/score_limit.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::brute {
namespace {

constexpr unsigned kCertificateThreads = 256;

__global__ void __launch_bounds__(kCertificateThreads)
    certify_fp16_kernel(Fp16Certificate certificate, unsigned* failed, unsigned* failed_count) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kCertificateThreads + threadIdx.x;
  if (query >= certificate.queries.count) return;
  // The comparison is such that NaN fails.
  if (certificate.left_out[query] > score_limit(certificate, query)) return;
  failed[atomicAdd(failed_count, 1U)] = static_cast<unsigned>(query);
}

}  // namespace

void certify_fp16(const Fp16Certificate& certificate, unsigned* failed, unsigned* failed_count, cudaStream_t stream) {
  launch("certify_fp16", certify_fp16_kernel,
         {.blocks = ceil_div(certificate.queries.count, kCertificateThreads), .threads = kCertificateThreads}, stream,
         certificate, failed, failed_count);
}

}  // namespace kith::KITH_BACKEND::brute
