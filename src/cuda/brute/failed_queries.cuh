// failed_queries.cuh: a thread for each query says whether it failed; the host learns how many did.
// Idea    the number of up to a block of queries is stored in the host's memory by the kernel itself: a copy behind the
//         kernel would take as long as the kernel.
#pragma once

#include "cuda/brute/candidates.hpp"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::brute {

constexpr unsigned kCertificateThreads = 256;

// Must be called by all threads of the block.
__device__ inline void note_failure(bool fails, std::int64_t query, const FailedQueries& failed) {
  if (fails) failed.queries[atomicAdd(failed.count, 1U)] = static_cast<unsigned>(query);
  if (gridDim.x > 1) return;
  const int count = __syncthreads_count(fails ? 1 : 0);
  if (threadIdx.x == 0) *failed.host_count = static_cast<unsigned>(count);
}

// Launches a kernel that calls note_failure() for each query.
template <class... Parameters, class... Arguments>
void launch_certificates(const char* name, void (*kernel)(Parameters...), std::int64_t queries,
                         const FailedQueries& failed, cudaStream_t stream, Arguments&&... arguments) {
  const std::int64_t blocks = ceil_div(queries, kCertificateThreads);
  launch(name, kernel, {.blocks = blocks, .threads = kCertificateThreads}, stream,
         std::forward<Arguments>(arguments)...);
  if (blocks > 1)
    KITH_CUDA(cudaMemcpyAsync(failed.host_count, failed.count, sizeof(unsigned), cudaMemcpyDeviceToHost, stream));
}

}  // namespace kith::KITH_BACKEND::brute
