// buffered_search.cuh: buffers between a search and its queue (Tang et al., III.D, Algorithm 3).
// Unbuffered, a candidate is inserted at once, while the other threads of the warp wait. Buffered, each thread collects
// candidates until its buffer is full, so that several threads insert at the same time. Three switches, as in Figure 6:
// the buffer; the vote, by which one full buffer empties all buffers of the warp; and the local sort, which lets a
// thread stop at its first key that is no longer below the head.
// For comparison with Tang et al. only: `auto` never chooses a method that uses it.
#pragma once

#include "cuda/select/papers/row_list.cuh"

namespace kith::KITH_BACKEND::select {

struct BufferOptions {
  unsigned size = 0;  // keys per thread; 0: unbuffered
  bool vote = false;
  bool local_sort = false;
};

template <class K, class Queue>
class BufferedSearch {
 public:
  // `buffer` holds options.size keys of each thread.
  __device__ BufferedSearch(Queue& queue, Interleaved<K> buffer, const BufferOptions& options)
      : queue_(queue), buffer_(buffer), options_(options) {}

  __device__ const K& head() const { return queue_.head(); }

  // Must be called by the whole warp; lanes whose key is below their head pass `wanted`.
  __device__ void offer(const K& key, bool wanted) {
    if (options_.size == 0) {
      queue_.insert(key, wanted);
      return;
    }
    if (wanted) buffer_[count_++] = key;
    const bool full = count_ == options_.size;
    if (__any_sync(kFullMask, full)) empty(full || options_.vote);
  }

  // Inserts the remaining keys of the buffers. Must be called by the whole warp.
  __device__ void finish() {
    if (__any_sync(kFullMask, count_ > 0)) empty(true);
  }

 private:
  // Inserts the buffered keys of the lanes with `emptying`. Must be called by the whole warp.
  __device__ void empty(bool emptying) {
    unsigned count = emptying ? count_ : 0;
    if (options_.local_sort) sort(count);
    for (unsigned i = 0; __any_sync(kFullMask, i < count); ++i) {
      const K key = i < count ? buffer_[i] : last_key<K>();
      const bool wanted = key < queue_.head();
      if (options_.local_sort && !wanted && i < count) count = i;
      queue_.insert(key, wanted);
    }
    if (emptying) count_ = 0;
  }

  // Insertion sort, ascending: the buffer is small.
  __device__ void sort(unsigned count) {
    for (unsigned i = 1; i < count; ++i) {
      const K key = buffer_[i];
      unsigned slot = i;
      for (; slot > 0 && key < buffer_[slot - 1]; --slot) buffer_[slot] = buffer_[slot - 1];
      buffer_[slot] = key;
    }
  }

  Queue& queue_;
  Interleaved<K> buffer_;
  BufferOptions options_;
  unsigned count_ = 0;
};

}  // namespace kith::KITH_BACKEND::select
