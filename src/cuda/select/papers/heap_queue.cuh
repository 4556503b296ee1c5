// heap_queue.cuh: one thread's k smallest keys as a binary heap, the largest at its root (Tang et al., III.B).
// Cost: O(log k) moves per insertion, on paths that diverge within a warp.
// For comparison with Tang et al. only: `auto` never chooses it.
#pragma once

#include "cuda/select/papers/queue_policy.cuh"
#include "cuda/select/papers/row_list.cuh"

namespace kith::KITH_BACKEND::select {

template <class K, class Count = CountNothing>
class HeapQueue : public QueueSlots<K> {
  using QueueSlots<K>::slots_;
  using QueueSlots<K>::size_;
  using QueueSlots<K>::head_;

 public:
  static constexpr bool kSortsFast = false;
  static unsigned slots_for(unsigned k) { return k; }

  __device__ HeapQueue(Interleaved<K> slots, unsigned size, const QueueOptions&, Count count = {})
      : QueueSlots<K>(slots, size), count_(count) {}

  // Empties the queue: every slot becomes `pad`, which is above all keys that will be inserted.
  __device__ void reset(const K& pad) { this->fill(pad); }

  // Must be called by the whole warp; lanes whose key is below their head pass `wanted`.
  __device__ void insert(const K& key, bool wanted) {
    if (!wanted) return;
    sift(key, size_);
    head_ = slots_[0];
  }

  // Heap sort: the root moves behind the shrinking heap.
  __device__ void sort() {
    for (unsigned end = size_; end-- > 1;) {
      const K last = slots_[end];
      slots_[end] = slots_[0];
      sift(last, end);
    }
  }
  // The key of this rank, the smallest first, after sort().
  __device__ K ranked(unsigned rank) const { return slots_[rank]; }

 private:
  // Replaces the root of the first `size` slots by `key` and sifts it down.
  __device__ void sift(const K& key, unsigned size) {
    unsigned hole = 0;
    for (unsigned child = 1; child < size; child = 2 * hole + 1) {
      K larger = slots_[child];
      if (child + 1 < size) {
        const K right = slots_[child + 1];
        if (larger < right) {
          larger = right;
          ++child;
        }
      }
      if (!(key < larger)) break;
      slots_[hole] = larger;
      count_(hole);
      hole = child;
    }
    slots_[hole] = key;
    count_(hole);
  }

  [[no_unique_address]] Count count_;
};

}  // namespace kith::KITH_BACKEND::select
