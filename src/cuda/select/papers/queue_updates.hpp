// queue_updates.hpp: counts how often each slot of a queue is written during a selection (Tang et al., Figure 5).
// For comparison with Tang et al. only.
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/select/rows.cuh"

namespace kith::KITH_BACKEND::select {

enum class QueueKind { insertion, heap, merge };

// Writes to counts[0 … k − 1], on the device, the updates of each slot, the head first, summed over all rows; each row
// is searched by one thread. The merge queue merges unaligned, so that a row's updates do not depend on its neighbors;
// its k must be a power of two. merge_size 0 is the method's default. Enqueued on the workspace's stream. Float only.
template <class T>
void queue_updates(const Rows<T>& rows, unsigned k, QueueKind kind, int merge_size, unsigned long long* counts,
                   Workspace& workspace);

}  // namespace kith::KITH_BACKEND::select
