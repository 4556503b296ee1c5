// merge_queue.cu: selection with one merge queue per thread (Tang et al., III.C), aligned over a warp or not.
// Cost: O(length + k·log² k·log(length / k)) per row on average. The queue is as long as the next power of two.
// Limits: queue_search.cuh. For comparison with Tang et al. only: `auto` never chooses it.
#include "cuda/select/papers/merge_queue.cuh"

#include "cuda/select/papers/queue_search.cuh"

namespace kith::KITH_BACKEND::select::methods {

template <class T>
void merge_queue(const SelectCall<T>& call) {
  select_with_queue<MergeQueue>("merge-queue", call);
}

template void merge_queue<float>(const SelectCall<float>&);
template void merge_queue<double>(const SelectCall<double>&);

}  // namespace kith::KITH_BACKEND::select::methods
