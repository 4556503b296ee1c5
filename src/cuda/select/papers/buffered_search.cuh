// buffered_search.cuh: the way from a search to its queue (Tang et al., III.D, Algorithm 3).
// Unbuffered, a candidate is inserted at once, while the other threads of the warp wait. Buffered, each thread collects
// candidates until its buffer is full, so that insertions of several threads fall together. Three switches, as in
// Figure 6: the buffer; the vote, by which one full buffer empties all of the warp; and the local sort, after which a
// buffer is left at its first key that is no longer below the head.
#pragma once

#include "cuda/select/papers/row_list.cuh"

namespace kith::KITH_BACKEND::select {

struct BufferOptions {
  unsigned size = 0;  // keys a thread; 0: unbuffered
  bool vote = false;
  bool local_sort = false;
};

template <class K, class Queue>
class BufferedSearch {
 public:
  // `buffer` has room for options.size keys of each thread.
  __device__ BufferedSearch(Queue& queue, Interleaved<K> buffer, const BufferOptions& options)
      : queue_(queue), buffer_(buffer), options_(options) {}

  __device__ const K& head() const { return queue_.head(); }

  // Called by the whole warp; lanes whose key is below their head want it inserted.
  __device__ void offer(const K& key, bool wanted) {
    if (options_.size == 0) {
      queue_.insert(key, wanted);
      return;
    }
    if (wanted) buffer_[count_++] = key;
    const bool full = count_ == options_.size;
    if (__any_sync(kFullMask, full)) empty(full || options_.vote);
  }

  // Called by the whole warp: what the buffers still hold goes into the queues.
  __device__ void finish() {
    if (__any_sync(kFullMask, count_ > 0)) empty(true);
  }

 private:
  // Called by the whole warp; lanes that are not `taking_part` keep their buffers.
  __device__ void empty(bool taking_part) {
    unsigned count = taking_part ? count_ : 0;
    if (options_.local_sort) sort(count);
    for (unsigned i = 0; __any_sync(kFullMask, i < count); ++i) {
      const K key = i < count ? buffer_[i] : last_key<K>();
      const bool wanted = key < queue_.head();
      if (options_.local_sort && !wanted && i < count) count = i;
      queue_.insert(key, wanted);
    }
    if (taking_part) count_ = 0;
  }

  // Ascending. The buffer is small: insertion sort.
  __device__ void sort(unsigned count) {
    for (unsigned i = 1; i < count; ++i) {
      const K key = buffer_[i];
      unsigned place = i;
      for (; place > 0 && key < buffer_[place - 1]; --place) buffer_[place] = buffer_[place - 1];
      buffer_[place] = key;
    }
  }

  Queue& queue_;
  Interleaved<K> buffer_;
  BufferOptions options_;
  unsigned count_ = 0;
};

}  // namespace kith::KITH_BACKEND::select
