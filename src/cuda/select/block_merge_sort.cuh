// block_merge_sort.cuh: any number of keys in global memory, sorted by one block.
// Tiles are sorted by the register network, then merged pairwise: every thread finds its strip of the output on the
// merge path by bisection and merges it by itself. For lists that are rare or few; a merge is a pass over the list.
#pragma once

#include "cuda/select/bitonic.cuh"

namespace kith::KITH_BACKEND {

// How many of the first `diagonal` keys of the merged sequence come from `a`.
template <class K>
__device__ unsigned merge_split(const K* a, unsigned a_size, const K* b, unsigned b_size, unsigned diagonal) {
  unsigned low = diagonal > b_size ? diagonal - b_size : 0;
  unsigned high = min(diagonal, a_size);
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (a[middle] < b[diagonal - 1 - middle]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Sorts keys[0 … size); `spare` has as much room. Returns where the result is, one of the two. `shared` is for
// kThreads · kItems keys. Ends with a barrier.
template <class K, unsigned kThreads, unsigned kItems>
__device__ K* block_merge_sort(K* keys, K* spare, unsigned size, K* shared) {
  constexpr unsigned kTile = kThreads * kItems;
  for (unsigned first = 0; first < size; first += kTile) {
    K items[kItems];
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) {
      const unsigned at = first + i * kThreads + threadIdx.x;
      items[i] = at < size ? keys[at] : last_key<K>();
    }
    Bitonic<K, kThreads, kItems>::sort(items, shared);
    __syncthreads();
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) {
      const unsigned at = first + threadIdx.x * kItems + i;
      if (at < size) keys[at] = items[i];
    }
  }
  __syncthreads();
  for (unsigned width = kTile; width < size; width *= 2) {
    for (unsigned at = threadIdx.x * kItems; at < size; at += kTile) {
      const unsigned begin = at / (2 * width) * (2 * width);
      const unsigned middle = min(begin + width, size);
      const unsigned end = min(middle + width, size);
      const K* a = keys + begin;
      const K* b = keys + middle;
      unsigned i = merge_split(a, middle - begin, b, end - middle, at - begin);
      unsigned j = at - begin - i;
      for (unsigned o = at; o < min(at + kItems, end); ++o) {
        const bool first = j >= end - middle || (i < middle - begin && a[i] < b[j]);
        spare[o] = first ? a[i++] : b[j++];
      }
    }
    __syncthreads();
    K* const merged = spare;
    spare = keys;
    keys = merged;
  }
  return keys;
}

}  // namespace kith::KITH_BACKEND
