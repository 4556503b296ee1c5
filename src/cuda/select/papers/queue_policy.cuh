// queue_policy.cuh: the slots and options of the three queues of Tang et al., and a policy that counts slot updates.
// For comparison with Tang et al. only: `auto` never chooses a method that uses it.
#pragma once

#include "cuda/select/papers/row_list.cuh"

namespace kith::KITH_BACKEND::select {

struct QueueOptions {
  unsigned merge_size = 8;  // merge queue: slots of the first level, a power of two
  bool aligned = true;      // merge queue: all lanes of a warp merge at the same time
};

// The slots of a queue. The first has the largest key, the head, of which the thread keeps a copy in a register.
template <class K>
class QueueSlots {
 public:
  __device__ unsigned size() const { return size_; }
  __device__ const K& head() const { return head_; }
  __device__ K at(unsigned slot) const { return slots_[slot]; }

  // Replaces a key by one of the same rank.
  __device__ void rename(unsigned slot, const K& key) {
    slots_[slot] = key;
    if (slot == 0) head_ = key;
  }

 protected:
  __device__ QueueSlots(Interleaved<K> slots, unsigned size) : slots_(slots), size_(size) {}

  // Sets every slot to `pad`, which is above all keys that will be inserted.
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

// Counts the updates of each slot, summed over all queues (Tang et al., Figure 5).
struct CountUpdates {
  unsigned long long* updates;
  __device__ void operator()(unsigned slot) const { atomicAdd(updates + slot, 1ULL); }
};

}  // namespace kith::KITH_BACKEND::select
