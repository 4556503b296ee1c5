// insertion_queue.cu: selection with one sorted queue per thread (Tang et al., III.B).
// Cost: O(length + k²·log(length / k)) per row on average, O(length·k) at worst. Limits: queue_search.cuh.
// For comparison with Tang et al. only: `auto` never chooses it.
#include "cuda/select/papers/insertion_queue.cuh"

#include "cuda/select/papers/queue_search.cuh"

namespace kith::KITH_BACKEND::select::methods {

template <class T>
void insertion_queue(const SelectCall<T>& call) {
  select_with_queue<InsertionQueue>("insertion-queue", call);
}

template void insertion_queue<float>(const SelectCall<float>&);
template void insertion_queue<double>(const SelectCall<double>&);

}  // namespace kith::KITH_BACKEND::select::methods
