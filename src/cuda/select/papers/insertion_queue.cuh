// insertion_queue.cuh: one thread's k smallest keys in descending order (Tang et al., III.B).
// The largest key, the head, comes first and is dropped when a smaller one is inserted. Cost: O(k) moves per insertion.
// For comparison with Tang et al. only: `auto` never chooses it.
#pragma once

#include "cuda/select/papers/queue_policy.cuh"
#include "cuda/select/papers/row_list.cuh"

namespace kith::KITH_BACKEND::select {

// Inserts `key` into the descending slots hole … size − 1 and drops the key of slot `hole`. Several slots are read
// ahead of the stores, so that their latencies overlap.
template <class K, class Count>
__device__ __forceinline__ void insert_descending(Interleaved<K> slots, unsigned hole, unsigned size, const K& key,
                                                  Count count) {
  constexpr unsigned kAhead = 4;
  for (bool placed = false; !placed; hole += kAhead) {
    K next[kAhead];
    KITH_UNROLL
    for (unsigned i = 0; i < kAhead; ++i) next[i] = hole + 1 + i < size ? slots[hole + 1 + i] : key;
    KITH_UNROLL
    for (unsigned i = 0; i < kAhead; ++i) {
      if (placed) continue;
      placed = !(key < next[i]);
      slots[hole + i] = placed ? key : next[i];
      count(hole + i);
    }
  }
}

template <class K, class Count = CountNothing>
class InsertionQueue : public QueueSlots<K> {
  using QueueSlots<K>::slots_;
  using QueueSlots<K>::size_;
  using QueueSlots<K>::head_;

 public:
  static constexpr bool kSortsFast = true;
  static unsigned slots_for(unsigned k) { return k; }

  __device__ InsertionQueue(Interleaved<K> slots, unsigned size, const QueueOptions&, Count count = {})
      : QueueSlots<K>(slots, size), count_(count) {}

  // Empties the queue: every slot becomes `pad`, which is above all keys that will be inserted.
  __device__ void reset(const K& pad) {
    this->fill(pad);
    filled_ = 0;
  }

  // Must be called by the whole warp; lanes whose key is below their head pass `wanted`.
  __device__ void insert(const K& key, bool wanted) {
    if (!wanted) return;
    const unsigned hole = filled_ < size_ ? size_ - ++filled_ : 0;
    insert_descending(slots_, hole, size_, key, count_);
    head_ = slots_[0];
  }

  __device__ void sort() {}
  // The key of this rank, the smallest first, after sort().
  __device__ K ranked(unsigned rank) const { return slots_[size_ - 1 - rank]; }

 private:
  unsigned filled_ = 0;
  [[no_unique_address]] Count count_;
};

}  // namespace kith::KITH_BACKEND::select
