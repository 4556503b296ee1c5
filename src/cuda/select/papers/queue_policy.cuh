// queue_policy.cuh: what the three queues share: their slots, their options, and a policy that sees every slot they
// write.
#pragma once

#include "cuda/select/papers/row_list.cuh"

namespace kith::KITH_BACKEND::select {

struct QueueOptions {
  unsigned merge_size = 8;  // merge queue: slots of the first level, a power of two
  bool aligned = true;      // merge queue: a warp merges together
};

// The slots of a queue, the largest key in the first, of which a thread keeps a copy.
template <class K>
class QueueSlots {
 public:
  __device__ unsigned size() const { return size_; }
  __device__ const K& head() const { return head_; }
  __device__ K at(unsigned slot) const { return slots_[slot]; }

  // Changes a key without changing its place in the order.
  __device__ void rename(unsigned slot, const K& key) {
    slots_[slot] = key;
    if (slot == 0) head_ = key;
  }

 protected:
  __device__ QueueSlots(Interleaved<K> slots, unsigned size) : slots_(slots), size_(size) {}

  // `pad`, above all keys that will be inserted, in every slot.
  __device__ void fill(const K& pad) {
    for (unsigned i = 0; i < size_; ++i) slots_[i] = pad;
    head_ = pad;
  }

  Interleaved<K> slots_;
  unsigned size_;
  K head_{};
};

struct CountNothing {
  __device__ void operator()(unsigned) const {}
};

// Tang et al., Figure 5: updates of each slot, over all queues.
struct CountUpdates {
  unsigned long long* updates;
  __device__ void operator()(unsigned slot) const { atomicAdd(updates + slot, 1ULL); }
};

}  // namespace kith::KITH_BACKEND::select
