// block_select.cu: the k smallest keys of each row, one block a row.
// Idea    every warp of the block keeps queues as in warp_select.cu over its share of the row; at the end the warp
//         queues are merged in pairs through shared memory.
// Paper   Hanák, 5.4.1 (after Johnson et al.).
// Cost    as warp_select.cu, with a threshold of its own for each warp, and log2 of the warps more merges.
// Limits  k ≤ 1024; tuning.thread_queue from 2 to 8, rounded up to 2, 3, 4 or 8 (4 or 8 from k = 129 on).
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/select/method.hpp"
#include "cuda/select/warp_select.cuh"

namespace kith::KITH_BACKEND::select {
namespace {

constexpr unsigned kThreads = 128;
constexpr unsigned kWarps = kThreads / kWarp;
constexpr unsigned kVectors = 2;

// The first warp's keys become the smallest of all warps' keys. All threads of the block call.
template <class Network>
__device__ void merge_warps(typename Network::Key (&keys)[Network::kEach]) {
  using Key = typename Network::Key;
  KITH_SHARED(Key, shared, kWarps / 2 * Network::kSize);
  for (unsigned half = kWarps / 2; half > 0; half /= 2) {
    if (warp_id() >= half && warp_id() < 2 * half) {
      KITH_UNROLL
      for (unsigned i = 0; i < Network::kEach; ++i)
        shared[(warp_id() - half) * Network::kSize + Network::rank(i)] = keys[i];
    }
    __syncthreads();
    if (warp_id() < half) {
      // The reversed separator, then the others.
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
__global__ void __launch_bounds__(kThreads, 1) block_select_kernel(Rows<T> rows, Output<T> output) {
  using Network = typename Queues::Network;
  const std::int64_t row = blockIdx.x;
  Queues queues(output.k);
  warp_scan<kVectors>(ValueSegment<T>(rows, row, 0, rows.length), queues, warp_id(), kWarps);
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
    launch("block_select", block_select_kernel<T, Queues>, {.blocks = call.rows.rows, .threads = kThreads},
           call.stream(), call.rows, call.output);
  });
}

template void block_select(const SelectCall<float>& call);
template void block_select(const SelectCall<double>& call);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
