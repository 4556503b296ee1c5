// warp_select.cu: the k smallest keys of each row, one warp per row.
// Idea    see warp_queues.cuh: a sorted warp queue and short thread queues, all in registers; no shared memory, no
//         barriers. A thread queue that fills up makes the whole warp merge.
// Paper   Hanák, 3.6.3 and 5.4.1 (after Johnson et al.). For comparison only: `auto` never chooses it.
// Cost    each value is read once; merges of Θ(k log k) steps, more often the shorter the thread queues are.
// Limits  k ≤ 1024; tuning.thread_queue from 2 to 8, rounded up to 2, 3, 4 or 8 (4 or 8 from k = 129 on).
#include "cuda/runtime/launch.cuh"
#include "cuda/select/method.hpp"
#include "cuda/select/warp_queues.cuh"

namespace kith::KITH_BACKEND::select {
namespace {

template <class T, class Queues>
__global__ void __launch_bounds__(WarpQueueShape::kThreads, 1) warp_select_kernel(Rows<T> rows, Output<T> output) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * WarpQueueShape::kWarps + warp_id();
  if (row >= rows.rows) return;
  Queues queues(output.k);
  warp_scan<WarpQueueShape::kVectors>(ValueSegment<T>(rows, row, 0, rows.length), queues, 0, 1);
  put_queue(queues, row, output);
}

}  // namespace

namespace methods {

template <class T>
void warp_select(const SelectCall<T>& call) {
  require_within("warp-select", "k", call.k(), 1, kLargestWarpQueue);
  with_queues<KeyOf<T>>(call.k(), thread_queue("warp-select", call.k(), call.tuning), [&]<class Queues>(Queues*) {
    launch("warp_select", warp_select_kernel<T, Queues>,
           {.blocks = ceil_div(call.rows.rows, WarpQueueShape::kWarps), .threads = WarpQueueShape::kThreads},
           call.stream(), call.rows, call.output);
  });
}

template void warp_select(const SelectCall<float>& call);
template void warp_select(const SelectCall<double>& call);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
