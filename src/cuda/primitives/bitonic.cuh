// bitonic.cuh: the bitonic network over an array held in the registers of a warp or a block (Hanák, 4.1).
// Thread t holds elements t·kItems … t·kItems + kItems − 1, so the most frequent strides, the short ones, stay within a
// thread; longer ones go through shuffles, and only those longer than a warp's elements through shared memory.
// A reversed separator (R) pairs element e with its mirror image in the segment, which makes two sorted halves of the
// same direction one bitonic sequence. A thread's mirror item sits at a fixed register of the mirror thread, so no
// array is reversed in place. Separators (S) then sort the bitonic halves. Cost: n/2 comparisons per layer, m layers
// for a merge of 2^m elements, m(m + 1)/2 for a sort.
#pragma once

#include "cuda/primitives/key.cuh"

namespace kith::KITH_BACKEND::inline primitives {

template <class K>
__device__ __forceinline__ void order_pair(K& a, K& b) {
  if (b < a) {
    const K t = a;
    a = b;
    b = t;
  }
}

template <class K>
__device__ __forceinline__ K chosen(const K& mine, const K& other, bool smaller) {
  return (other < mine) == smaller ? other : mine;
}

// The element of rank `count` (from 1) of an ascending array of a warp, in every lane. Registers cannot be indexed at
// run time, so every lane takes its last element up to that rank, and the largest of all lanes is the result.
template <class K, unsigned kItems>
__device__ __forceinline__ K warp_rank(const K (&items)[kItems], unsigned count) {
  K best = items[0];
  KITH_UNROLL
  for (unsigned i = 1; i < kItems; ++i)
    if (lane_id() * kItems + i < count) best = items[i];
  if (lane_id() * kItems >= count) best = K{};
  KITH_UNROLL
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    const K other = shuffle_xor(best, step);
    if (best < other) best = other;
  }
  return best;
}

// The network for kThreads threads (a multiple or a power-of-two part of a warp) of kItems elements each, both powers
// of two, from a thread whose index is a multiple of kThreads. With more than a warp, kThreads is the block's size, all
// threads of the block must call, and `shared` holds kThreads · kItems keys; otherwise `shared` is not used.
template <class K, unsigned kThreads, unsigned kItems>
class Bitonic {
 public:
  using Key = K;
  static constexpr unsigned kGroup = kThreads;  // threads that hold the array
  static constexpr unsigned kEach = kItems;     // elements per thread
  static constexpr unsigned kSize = kThreads * kItems;

  // The index of this thread's item in the whole array.
  __device__ static unsigned rank(unsigned item) { return thread() * kItems + item; }

  // Sorts ascending.
  __device__ static void sort(K (&items)[kItems], K* shared) {
    sort_items(items);
    for (unsigned length = 2; length <= kThreads; length *= 2) {
      mirror(items, length, shared);
      separate(items, length / 4, shared);
    }
  }

  // Sorts a bitonic sequence, ascending.
  __device__ static void merge(K (&items)[kItems], K* shared) { separate(items, kThreads / 2, shared); }

  // Leaves in `items` the kSize smallest keys of two ascending sequences, ascending.
  __device__ static void keep_smallest(K (&items)[kItems], const K (&others)[kItems], K* shared) {
    K mirrored[kItems];
    exchange_mirrored(others, mirrored, kThreads, shared);
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i)
      if (mirrored[i] < items[i]) items[i] = mirrored[i];
    merge(items, shared);
  }

 private:
  __device__ static unsigned thread() { return threadIdx.x % kThreads; }

  // Sorts each thread's own items, ascending.
  __device__ static void sort_items(K (&items)[kItems]) {
    KITH_UNROLL
    for (unsigned length = 2; length <= kItems; length *= 2) {
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i) {
        const unsigned j = i ^ (length - 1);
        if (i < j) order_pair(items[i], items[j]);
      }
      separate_items(items, length / 4);
    }
  }

  __device__ static void separate_items(K (&items)[kItems], unsigned first) {
    KITH_UNROLL
    for (unsigned stride = kItems / 2; stride > 0; stride /= 2) {
      if (stride > first) continue;
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i) {
        const unsigned j = i ^ stride;
        if (i < j) order_pair(items[i], items[j]);
      }
    }
  }

  // The reversed separator (R) over segments of `length` threads.
  __device__ static void mirror(K (&items)[kItems], unsigned length, K* shared) {
    K mirrored[kItems];
    exchange_mirrored(items, mirrored, length, shared);
    const bool lower = (thread() & (length / 2)) == 0;
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) items[i] = chosen(items[i], mirrored[i], lower);
  }

  // Separators (S) with strides of `stride` threads and below, down to single items.
  __device__ static void separate(K (&items)[kItems], unsigned stride, K* shared) {
    for (; stride >= kWarp; stride /= 2) {
      if constexpr (kThreads > kWarp) {
        __syncthreads();
        KITH_UNROLL
        for (unsigned i = 0; i < kItems; ++i) shared[i * kThreads + thread()] = items[i];
        __syncthreads();
        const bool lower = (thread() & stride) == 0;
        KITH_UNROLL
        for (unsigned i = 0; i < kItems; ++i)
          items[i] = chosen(items[i], shared[i * kThreads + (thread() ^ stride)], lower);
      }
    }
    for (; stride > 0; stride /= 2) {
      const bool lower = (thread() & stride) == 0;
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i) items[i] = chosen(items[i], shuffle_xor(items[i], stride), lower);
    }
    separate_items(items, kItems / 2);
  }

  // Sets mirrored[i] to the mirror image of element (thread, i) in its segment of `length` threads.
  __device__ static void exchange_mirrored(const K (&from)[kItems], K (&mirrored)[kItems], unsigned length, K* shared) {
    if (length <= kWarp) {
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i) mirrored[i] = shuffle_xor(from[kItems - 1 - i], length - 1);
      return;
    }
    if constexpr (kThreads > kWarp) {
      __syncthreads();
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i) shared[i * kThreads + thread()] = from[i];
      __syncthreads();
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i)
        mirrored[i] = shared[(kItems - 1 - i) * kThreads + (thread() ^ (length - 1))];
    }
  }
};

}  // namespace kith::KITH_BACKEND::inline primitives
