// merge_queue.cuh: one thread's k smallest keys in levels of m, m, 2m, 4m … slots (Tang et al., III.C, Algorithm 2).
// Each level is descending, and so are the heads of the levels. A key enters the first level; only when a level's head
// falls below the next one's are they merged (lazy update), by a bitonic merge whose first layer pairs mirror images
// (reverse bitonic merge). Algorithm 2 as printed merges when the upper head is not below the lower one; its text, and
// this code, when it is.
// The first `size` keys are collected unsorted, from the last slot upwards, and sorted once: levels that hold only
// padding would otherwise be merged again for every m keys.
// Aligned: when one thread of a warp has to merge a level, all do. In a thread that need not, the merge changes
// nothing; in one that still collects, it only permutes the collected keys, since padding, the largest, stays in front.
// Cost: O(log² k) exchanges per insertion on average; three layers at a time are done in registers.
// For comparison with Tang et al. only: `auto` never chooses it.
#pragma once

#include "cuda/select/papers/insertion_queue.cuh"

namespace kith::KITH_BACKEND::select {

template <class K, class Count = CountNothing>
class MergeQueue : public QueueSlots<K> {
  using QueueSlots<K>::slots_;
  using QueueSlots<K>::size_;
  using QueueSlots<K>::head_;

 public:
  static constexpr bool kSortsFast = true;
  // Rounds up to a power of two, which levels of any m fill exactly.
  static unsigned slots_for(unsigned k) {
    unsigned size = 1;
    while (size < k) size *= 2;
    return size;
  }

  __device__ MergeQueue(Interleaved<K> slots, unsigned size, const QueueOptions& options, Count count = {})
      : QueueSlots<K>(slots, size),
        first_level_(options.merge_size < size ? options.merge_size : size),
        aligned_(options.aligned),
        count_(count) {}

  // Empties the queue: every slot becomes `pad`, which is above all keys that will be inserted.
  __device__ void reset(const K& pad) {
    this->fill(pad);
    filled_ = 0;
  }

  // Must be called by the whole warp; lanes whose key is below their head pass `wanted`.
  __device__ void insert(const K& key, bool wanted) {
    const bool collecting = filled_ < size_;
    if (wanted && collecting) collect(key);
    if (wanted && !collecting) insert_descending(slots_, 0, first_level_, key, count_);
    if (decide(collecting && filled_ == size_)) sort_from(1);
    for (unsigned upper = 0, lower = first_level_; lower < size_; upper = lower, lower *= 2) {
      const bool broken = filled_ == size_ && slots_[upper] < slots_[lower];
      if (!decide(broken)) break;
      merge(2 * lower, 2 * lower);
    }
    head_ = slots_[0];
  }

  __device__ void sort() { sort_from(filled_ == size_ ? first_level_ : 1); }
  // The key of this rank, the smallest first, after sort().
  __device__ K ranked(unsigned rank) const { return slots_[size_ - 1 - rank]; }

 private:
  // A thread's own decision or, aligned, that of any thread of its warp.
  __device__ bool decide(bool mine) const { return aligned_ ? __any_sync(kFullMask, mine) != 0 : mine; }

  __device__ void collect(const K& key) {
    const unsigned slot = size_ - ++filled_;
    slots_[slot] = key;
    count_(slot);
  }

  // Sorts all slots, in which runs of `run` slots are sorted already.
  __device__ void sort_from(unsigned run) {
    while (run < size_) {
      run *= 2;
      merge(size_, run);
    }
  }

  // Reverse bitonic merge, within the first `end` slots, of each segment of `length` slots whose halves are descending.
  __device__ void merge(unsigned end, unsigned length) {
    const unsigned half = length / 2;
    if (half >= 4) mirror<4>(end, length);
    if (half < 4) mirror<1>(end, length);
    unsigned stride = half / 2;
    for (; stride >= 4; stride /= 8) separate<3>(end, stride);
    if (stride == 2) separate<2>(end, stride);
    if (stride == 1) separate<1>(end, stride);
  }

  // The first layer, in steps of kPairs pairs of one segment.
  template <unsigned kPairs>
  __device__ void mirror(unsigned end, unsigned length) {
    for (unsigned i = 0; i < end / 2; i += kPairs) {
      const unsigned in_half = i & (length / 2 - 1);
      const unsigned upper = 2 * (i - in_half) + in_half;
      const unsigned lower = upper + length - 1 - 2 * in_half;
      K uppers[kPairs];
      K lowers[kPairs];
      KITH_UNROLL
      for (unsigned j = 0; j < kPairs; ++j) uppers[j] = slots_[upper + j];
      KITH_UNROLL
      for (unsigned j = 0; j < kPairs; ++j) lowers[j] = slots_[lower - j];
      KITH_UNROLL
      for (unsigned j = 0; j < kPairs; ++j) {
        if (!(uppers[j] < lowers[j])) continue;
        slots_[upper + j] = lowers[j];
        slots_[lower - j] = uppers[j];
        count_(upper + j);
        count_(lower - j);
      }
    }
  }

  // kLayers layers of the network, of strides `stride`, stride / 2 …, on slots that are held in registers.
  template <unsigned kLayers>
  __device__ void separate(unsigned end, unsigned stride) {
    constexpr unsigned kSlots = 1U << kLayers;
    const unsigned step = stride >> (kLayers - 1);
    for (unsigned i = 0; i < end / kSlots; ++i) {
      const unsigned in_step = i & (step - 1);
      const unsigned first = (i - in_step) * kSlots + in_step;
      K keys[kSlots];
      KITH_UNROLL
      for (unsigned j = 0; j < kSlots; ++j) keys[j] = slots_[first + j * step];
      KITH_UNROLL
      for (unsigned distance = kSlots / 2; distance > 0; distance /= 2) {
        KITH_UNROLL
        for (unsigned j = 0; j < kSlots; ++j) {
          if ((j & distance) != 0 || !(keys[j] < keys[j + distance])) continue;
          const K upper = keys[j];
          keys[j] = keys[j + distance];
          keys[j + distance] = upper;
          count_(first + j * step);
          count_(first + (j + distance) * step);
        }
      }
      KITH_UNROLL
      for (unsigned j = 0; j < kSlots; ++j) slots_[first + j * step] = keys[j];
    }
  }

  unsigned first_level_;
  unsigned filled_ = 0;
  bool aligned_;
  [[no_unique_address]] Count count_;
};

}  // namespace kith::KITH_BACKEND::select
