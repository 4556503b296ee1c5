// strided_bitonic.cuh: the bitonic network over registers in the transposed layout (Hanák, 3.6.3 and 4.1.3).
// Element e is item e / kThreads of thread e % kThreads: long strides stay within a thread, strides below a warp are
// shuffles, and those between a warp and the block go through shared memory. One warp thus needs no shared memory and
// its writes coalesce; for a block the frequent short strides become the expensive ones. kItems need not be a power of
// two: the array is treated as padded at its end, and since every comparator moves the larger key to the higher index,
// those that touch the padding are left out.
#pragma once

#include <algorithm>

#include "cuda/primitives/bitonic.cuh"

#if defined(KITH_IS_EMULATED)
#define KITH_NO_UNROLL
#else
#define KITH_NO_UNROLL _Pragma("unroll 1")
#endif

namespace kith::KITH_BACKEND::inline primitives {

// The interface and the preconditions of Bitonic.
template <class K, unsigned kThreads, unsigned kItems>
class StridedBitonic {
 public:
  using Key = K;
  static constexpr unsigned kGroup = kThreads;
  static constexpr unsigned kEach = kItems;
  static constexpr unsigned kSize = kThreads * kItems;

  __device__ static unsigned rank(unsigned item) { return item * kThreads + thread(); }

  // Sorts ascending.
  __device__ static void sort(K (&items)[kItems], K* shared) {
    KITH_NO_UNROLL
    for (unsigned length = 2; length <= kThreads; length *= 2) {
      separate_threads(items, length - 1, length / 2, shared);
      KITH_NO_UNROLL
      for (unsigned stride = length / 4; stride > 0; stride /= 2) separate_threads(items, stride, stride, shared);
    }
    KITH_UNROLL
    for (unsigned length = 2; length / 2 < kItems; length *= 2) {
      mirror_items(items, length, shared);
      separate_items(items, length / 4);
      separate_all_threads(items, shared);
    }
  }

  // Sorts a bitonic sequence, ascending.
  __device__ static void merge(K (&items)[kItems], K* shared) {
    separate_items(items, kItems / 2);
    separate_all_threads(items, shared);
  }

  // Leaves in `items` the kSize smallest keys of two ascending sequences, ascending; the second may be shorter or
  // longer. kItems must be a power of two.
  template <unsigned kOthers>
  __device__ static void keep_smallest(K (&items)[kItems], const K (&others)[kOthers], K* shared) {
    static_assert((kItems & (kItems - 1)) == 0);
    constexpr unsigned kPairs = std::min(kOthers, kItems);
    K mirrored[kPairs];
    KITH_UNROLL
    for (unsigned i = 0; i < kPairs; ++i) mirrored[i] = others[i];
    exchange(mirrored, kThreads - 1, shared);
    KITH_UNROLL
    for (unsigned i = 0; i < kPairs; ++i)
      if (mirrored[i] < items[kItems - 1 - i]) items[kItems - 1 - i] = mirrored[i];
    merge(items, shared);
  }

 private:
  __device__ static unsigned thread() { return threadIdx.x % kThreads; }

  // Replaces every item by the same item of thread ^ mask.
  template <unsigned kCount>
  __device__ static void exchange(K (&items)[kCount], unsigned mask, K* shared) {
    if (mask < kWarp) {
      KITH_UNROLL
      for (unsigned i = 0; i < kCount; ++i) items[i] = shuffle_xor(items[i], mask);
      return;
    }
    if constexpr (kThreads > kWarp) {
      __syncthreads();
      KITH_UNROLL
      for (unsigned i = 0; i < kCount; ++i) shared[i * kThreads + thread()] = items[i];
      __syncthreads();
      KITH_UNROLL
      for (unsigned i = 0; i < kCount; ++i) items[i] = shared[i * kThreads + (thread() ^ mask)];
    }
  }

  // Compares each item with the same item of thread ^ mask; threads without `bit` keep the smaller.
  __device__ static void separate_threads(K (&items)[kItems], unsigned mask, unsigned bit, K* shared) {
    K others[kItems];
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) others[i] = items[i];
    exchange(others, mask, shared);
    const bool lower = (thread() & bit) == 0;
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) items[i] = chosen(items[i], others[i], lower);
  }

  // Separators (S) with strides of half the threads and below. Not unrolled: it is most of a long array's code.
  __device__ static void separate_all_threads(K (&items)[kItems], K* shared) {
    KITH_NO_UNROLL
    for (unsigned stride = kThreads / 2; stride > 0; stride /= 2) separate_threads(items, stride, stride, shared);
  }

  // The reversed separator (R) over segments of `length` items: the partner is the mirror item of the mirror thread.
  __device__ static void mirror_items(K (&items)[kItems], unsigned length, K* shared) {
    K others[kItems];
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) others[i] = items[i];
    exchange(others, kThreads - 1, shared);
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) {
      const unsigned j = i ^ (length - 1);
      if (j < kItems) items[i] = chosen(items[i], others[j], i < j);
    }
  }

  // Separators (S) with strides of `first` items and below, down to one item, which is a stride of kThreads elements.
  __device__ static void separate_items(K (&items)[kItems], unsigned first) {
    KITH_UNROLL
    for (unsigned stride = kLargestStride; stride > 0; stride /= 2) {
      if (stride > first) continue;
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i) {
        const unsigned j = i ^ stride;
        if (i < j && j < kItems) order_pair(items[i], items[j]);
      }
    }
  }

  // Half of kItems rounded up to a power of two.
  static constexpr unsigned largest_stride() {
    unsigned stride = 1;
    while (2 * stride < kItems) stride *= 2;
    return kItems == 1 ? 0 : stride;
  }
  static constexpr unsigned kLargestStride = largest_stride();
};

}  // namespace kith::KITH_BACKEND::inline primitives
