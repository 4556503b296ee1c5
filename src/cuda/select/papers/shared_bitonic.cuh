// shared_bitonic.cuh: the bitonic network over an array in shared memory (Hanák, 4.1.1 and 5.3.1).
// Every layer loads, compares and stores, and ends with a barrier. With kShuffles the layers of strides below a warp
// are done in registers between one load and one store. For comparison with the register networks only.
#pragma once

#include "cuda/primitives/bitonic.cuh"

namespace kith::KITH_BACKEND::select {

// The interface of Bitonic; between calls a thread's items are in its registers, strided over the block.
template <class K, unsigned kThreads, unsigned kItems, bool kShuffles>
class SharedBitonic {
 public:
  using Key = K;
  static constexpr unsigned kGroup = kThreads;
  static constexpr unsigned kEach = kItems;
  static constexpr unsigned kSize = kThreads * kItems;

  __device__ static unsigned rank(unsigned item) { return item * kThreads + threadIdx.x; }

  // Sorts ascending.
  __device__ static void sort(K (&items)[kItems], K* shared) {
    store(items, shared);
    unsigned length = 2;
    if constexpr (kShuffles) {
      short_layers(shared, [](K key) {
        for (unsigned half = 1; half < kWarp; half *= 2) {
          key = chosen(key, shuffle_xor(key, 2 * half - 1), (lane_id() & half) == 0);
          key = separate_lanes(key, half / 2);
        }
        return key;
      });
      length = 2 * kWarp;
    }
    for (; length <= kSize; length *= 2) {
      layer(shared, length / 2, length - 1);
      separate(shared, length / 4);
    }
    load(items, shared);
  }

  // Sorts a bitonic sequence, ascending.
  __device__ static void merge(K (&items)[kItems], K* shared) {
    store(items, shared);
    separate(shared, kSize / 2);
    load(items, shared);
  }

  // Leaves in `items` the kSize smallest keys of two ascending sequences, ascending.
  __device__ static void keep_smallest(K (&items)[kItems], const K (&others)[kItems], K* shared) {
    store(others, shared);
    for (unsigned i = 0; i < kItems; ++i) {
      const K mirrored = shared[kSize - 1 - rank(i)];
      if (mirrored < items[i]) items[i] = mirrored;
    }
    merge(items, shared);
  }

 private:
  // Begins and ends with a barrier.
  __device__ static void store(const K (&items)[kItems], K* shared) {
    __syncthreads();
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) shared[rank(i)] = items[i];
    __syncthreads();
  }

  __device__ static void load(K (&items)[kItems], const K* shared) {
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) items[i] = shared[rank(i)];
  }

  // One layer: comparator c orders the element whose index is c with a 0 inserted at the bit of `stride`, and the
  // element at that index ^ mask. Ends with a barrier.
  __device__ static void layer(K* shared, unsigned stride, unsigned mask) {
    for (unsigned c = threadIdx.x; c < kSize / 2; c += kThreads) {
      const unsigned low = (c & ~(stride - 1)) << 1U | (c & (stride - 1));
      order_pair(shared[low], shared[low ^ mask]);
    }
    __syncthreads();
  }

  // Separators (S) of `stride` elements and below.
  __device__ static void separate(K* shared, unsigned stride) {
    const unsigned last_layer = kShuffles ? kWarp : 1;
    for (; stride >= last_layer; stride /= 2) layer(shared, stride, stride);
    if constexpr (kShuffles) short_layers(shared, [stride](K key) { return separate_lanes(key, stride); });
  }

  __device__ static K separate_lanes(K key, unsigned stride) {
    for (; stride > 0; stride /= 2) key = chosen(key, shuffle_xor(key, stride), (lane_id() & stride) == 0);
    return key;
  }

  // Applies `step` to each key; the lanes of a warp hold consecutive keys. Ends with a barrier.
  template <class Step>
  __device__ static void short_layers(K* shared, Step step) {
    for (unsigned i = 0; i < kItems; ++i) shared[rank(i)] = step(shared[rank(i)]);
    __syncthreads();
  }
};

template <class K, unsigned kThreads, unsigned kItems>
using PlainSharedBitonic = SharedBitonic<K, kThreads, kItems, false>;
template <class K, unsigned kThreads, unsigned kItems>
using ShuffledSharedBitonic = SharedBitonic<K, kThreads, kItems, true>;

}  // namespace kith::KITH_BACKEND::select
