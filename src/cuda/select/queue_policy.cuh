// queue_policy.cuh: what the three queues share: their options, and a policy that sees every slot they write.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND {

struct QueueOptions {
  unsigned merge_size = 8;  // merge queue: slots of the first level, a power of two
  bool aligned = true;      // merge queue: a warp merges together
};

struct CountNothing {
  __device__ void operator()(unsigned) const {}
};

// Tang et al., Figure 5: updates of each slot, over all queues.
struct CountUpdates {
  unsigned long long* updates;
  __device__ void operator()(unsigned slot) const { atomicAdd(updates + slot, 1ULL); }
};

}  // namespace kith::KITH_BACKEND
