// sweet_knn_lists.cuh: lists of the k nearest of a thread, in the places that Chen et al. compare. A list has
//   head()         the largest key
//   insert(key)    replaces the head by a smaller key
//   sort()         comes before each()
//   each(k, put)   calls put(rank, key) for all keys
#pragma once

#include "cuda/select/papers/heap_queue.cuh"

namespace kith::KITH_BACKEND::triangle {

// A heap whose slots lie in shared or global memory.
template <class K>
class HeapList {
 public:
  using Key = K;
  static constexpr bool kInMemory = true;

  __device__ HeapList(const select::Interleaved<K>& slots, unsigned k) : queue_(slots, k, {}) {
    queue_.reset(last_key<K>());
  }

  __device__ __forceinline__ const K& head() const { return queue_.head(); }
  __device__ __forceinline__ void insert(const K& key) { queue_.insert(key, true); }
  __device__ void sort() { queue_.sort(); }
  template <class Put>
  __device__ void each(unsigned k, Put put) const {
    for (unsigned rank = 0; rank < k; ++rank) put(rank, queue_.ranked(rank));
  }

 private:
  select::HeapQueue<K> queue_;
};

// A descending array in registers: loops are unrolled, so that every index is a constant. Slots beyond k hold a value
// below all keys.
template <class K, unsigned kSize>
class RegisterList {
 public:
  using Key = K;
  static constexpr bool kInMemory = false;

  __device__ RegisterList(const select::Interleaved<K>& /*slots*/, unsigned k) {
    KITH_UNROLL
    for (unsigned i = 0; i < kSize; ++i) keys_[i] = i < k ? last_key<K>() : K{};
  }

  __device__ __forceinline__ const K& head() const { return keys_[0]; }
  __device__ __forceinline__ void insert(const K& key) {
    keys_[0] = key;
    KITH_UNROLL
    for (unsigned i = 0; i + 1 < kSize; ++i)
      if (keys_[i] < keys_[i + 1]) {
        const K larger = keys_[i + 1];
        keys_[i + 1] = keys_[i];
        keys_[i] = larger;
      }
  }
  __device__ void sort() {}
  template <class Put>
  __device__ void each(unsigned k, Put put) const {
    KITH_UNROLL
    for (unsigned i = 0; i < kSize; ++i)
      if (i < k) put(k - 1 - i, keys_[i]);
  }

 private:
  K keys_[kSize];
};

}  // namespace kith::KITH_BACKEND::triangle
