// queue_updates.cu: the search of queue_search.cuh with queues that count their updates (Tang et al., Figure 5).
#include "cuda/select/papers/queue_updates.hpp"

#include "cuda/select/papers/heap_queue.cuh"
#include "cuda/select/papers/insertion_queue.cuh"
#include "cuda/select/papers/merge_queue.cuh"
#include "cuda/select/papers/queue_search.cuh"

namespace kith::KITH_BACKEND::select {

namespace {

template <class T, class Queue>
__global__ void __launch_bounds__(kQueueSearch.threads, kQueueSearch.blocks)
    count_updates_kernel(QueueSearch<T> call, unsigned long long* counts) {
  const std::int64_t row = thread_index();
  Queue queue({call.slots + row, call.threads}, call.slots_per_thread, call.queue, CountUpdates{counts});
  search_list(call, thread_list(call, row), row, queue);
}

template <template <class, class> class Queue, class T>
void count_updates(const Rows<T>& rows, unsigned k, const QueueTuning& tuning, unsigned long long* counts,
                   Workspace& workspace) {
  const QueueSearch<T> search = plan_search<T, Queue>(rows, k, tuning, workspace);
  launch("count updates", count_updates_kernel<T, Queue<KeyOf<T>, CountUpdates>>, search_shape(search),
         workspace.stream(), search, counts);
}

}  // namespace

template <class T>
void queue_updates(const Rows<T>& rows, unsigned k, QueueKind kind, int merge_size, unsigned long long* counts,
                   Workspace& workspace) {
  if (kind == QueueKind::merge && (k & (k - 1)) != 0)
    throw Error(ErrorCode::invalid_argument,
                "queue updates: k = " + std::to_string(k) + " of the merge queue is no power of two");
  QueueTuning tuning;
  tuning.queue = {checked_merge_size("queue updates", merge_size), false};
  KITH_CUDA(cudaMemsetAsync(counts, 0, k * sizeof(*counts), workspace.stream()));
  switch (kind) {
    case QueueKind::insertion: return count_updates<InsertionQueue>(rows, k, tuning, counts, workspace);
    case QueueKind::heap: return count_updates<HeapQueue>(rows, k, tuning, counts, workspace);
    case QueueKind::merge: return count_updates<MergeQueue>(rows, k, tuning, counts, workspace);
  }
}

template void queue_updates<float>(const Rows<float>&, unsigned, QueueKind, int, unsigned long long*, Workspace&);

}  // namespace kith::KITH_BACKEND::select
