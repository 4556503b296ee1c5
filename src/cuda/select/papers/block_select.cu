// block_select.cu: the k smallest keys of each row, one block per row.
// Idea    every warp of the block keeps queues as in warp_select.cu over its part of the row; at the end the warp
//         queues are merged in pairs through shared memory.
// Paper   Hanák, 5.4.1 (after Johnson et al.). For comparison only: `auto` never chooses it.
// Cost    as warp_select.cu, but every warp has its own threshold; log2 of the number of warps more merges.
// Limits  k ≤ 1024; tuning.thread_queue from 2 to 8, rounded up to 2, 3, 4 or 8 (4 or 8 from k = 129 on).
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/select/method.hpp"
#include "cuda/select/warp_queues.cuh"

namespace kith::KITH_BACKEND::select {
namespace {

// Leaves the smallest keys of all warps in the first warp. Must be called by all threads of the block.
template <class Network>
__device__ void merge_warps(typename Network::Key (&keys)[Network::kEach]) {
  using Key = typename Network::Key;
  constexpr unsigned kWarps = WarpQueueShape::kWarps;
  KITH_SHARED(Key, shared, kWarps / 2 * Network::kSize);
  for (unsigned half = kWarps / 2; half > 0; half /= 2) {
    if (warp_id() >= half && warp_id() < 2 * half) {
      KITH_UNROLL
      for (unsigned i = 0; i < Network::kEach; ++i)
        shared[(warp_id() - half) * Network::kSize + Network::rank(i)] = keys[i];
    }
    __syncthreads();
    if (warp_id() < half) {
      // The reversed separator, then the separators.
      KITH_UNROLL
      for (unsigned i = 0; i < Network::kEach; ++i) {
        const Key other = shared[(warp_id() + 1) * Network::kSize - 1 - Network::rank(i)];
        if (other < keys[i]) keys[i] = other;
      }
      Network::merge(keys, nullptr);
    }
    __syncthreads();
  }
}

template <class T, class Queues>
__global__ void __launch_bounds__(WarpQueueShape::kThreads, 1) block_select_kernel(Rows<T> rows, Output<T> output) {
  using Network = typename Queues::Network;
  const std::int64_t row = blockIdx.x;
  Queues queues(output.k);
  warp_scan<WarpQueueShape::kVectors>(ValueSegment<T>(rows, row, 0, rows.length), queues, warp_id(),
                                      WarpQueueShape::kWarps);
  merge_warps<Network>(queues.keys());
  if (warp_id() != 0) return;
  put_queue(queues, row, output);
}

}  // namespace

namespace methods {

template <class T>
void block_select(const SelectCall<T>& call) {
  require_within("block-select", "k", call.k(), 1, kLargestWarpQueue);
  with_queues<KeyOf<T>>(call.k(), thread_queue("block-select", call.k(), call.tuning), [&]<class Queues>(Queues*) {
    launch("block_select", block_select_kernel<T, Queues>,
           {.blocks = call.rows.rows, .threads = WarpQueueShape::kThreads}, call.stream(), call.rows, call.output);
  });
}

template void block_select(const SelectCall<float>& call);
template void block_select(const SelectCall<double>& call);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
