// fp16_certificate.cu: a thread checks a query.
#include "cuda/brute/fp16_certificate.hpp"

#include "cuda/brute/failed_queries.cuh"
#include "cuda/brute/score_limit.cuh"

namespace kith::KITH_BACKEND::brute {
namespace {

__global__ void __launch_bounds__(kCertificateThreads)
    certify_fp16_kernel(Fp16Certificate certificate, FailedQueries failed) {
  const std::int64_t query = thread_index();
  // The comparison is such that NaN fails.
  note_failure(query < certificate.queries.count && !(certificate.left_out[query] > score_limit(certificate, query)),
               query, failed);
}

}  // namespace

void certify_fp16(const Fp16Certificate& certificate, const FailedQueries& failed, cudaStream_t stream) {
  launch_certificates("certify_fp16", certify_fp16_kernel, certificate.queries.count, failed, stream, certificate,
                      failed);
}

}  // namespace kith::KITH_BACKEND::brute
