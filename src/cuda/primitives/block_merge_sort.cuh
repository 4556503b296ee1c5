// block_merge_sort.cuh: sorts any number of keys in global memory by one block.
// Tiles are sorted by the register network, then merged pairwise: every thread finds its part of the output on the
// merge path by bisection and merges it alone. Cost: one pass over the keys per merge level; for rare or few lists.
#pragma once

#include "cuda/primitives/bitonic.cuh"
#include "cuda/primitives/merge_path.cuh"

namespace kith::KITH_BACKEND::inline primitives {

// Sorts keys[0 … size) and returns the sorted array, which is `keys` or `spare`, both of `size` keys. `shared` holds
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
      K strip[kItems];
      merge_strip<K, kItems>({keys + begin, middle - begin, keys + middle, end - middle}, at - begin, end - begin,
                             strip);
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i)
        if (at + i < end) spare[at + i] = strip[i];
    }
    __syncthreads();
    K* const merged = spare;
    spare = keys;
    keys = merged;
  }
  return keys;
}

}  // namespace kith::KITH_BACKEND::inline primitives
