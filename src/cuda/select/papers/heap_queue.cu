// heap_queue.cu: selection with one heap per thread (Tang et al., III.B).
// Cost: O(length + k·log k·log(length / k)) per row on average, O(length·log k) at worst. Limits: queue_search.cuh.
// For comparison with Tang et al. only: `auto` never chooses it.
#include "cuda/select/papers/heap_queue.cuh"

#include "cuda/select/papers/queue_search.cuh"

namespace kith::KITH_BACKEND::select::methods {

template <class T>
void heap_queue(const SelectCall<T>& call) {
  select_with_queue<HeapQueue>("heap-queue", call);
}

template void heap_queue<float>(const SelectCall<float>&);
template void heap_queue<double>(const SelectCall<double>&);

}  // namespace kith::KITH_BACKEND::select::methods
