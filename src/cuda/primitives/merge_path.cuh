// merge_path.cuh: merges two sorted lists by a block (Hanák, 3.4.2).
// Output position d lies on the d-th cross diagonal of the merge matrix, and bisection finds where the merge path
// crosses it. Two coarse diagonals cut out a tile whose keys fit into shared memory; fine ones give each thread the few
// keys of the tile that it merges alone. All threads do the same amount of work on any data.
#pragma once

#include "cuda/primitives/key.cuh"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::inline primitives {

template <class K>
struct ListPair {
  const K* a;
  unsigned a_size;
  const K* b;
  unsigned b_size;
};

// Returns how many of the first `diagonal` keys of the merged list come from a. Of equal keys b's come first.
template <class K>
__device__ unsigned merge_path_split(const ListPair<K>& lists, unsigned diagonal) {
  unsigned low = diagonal > lists.b_size ? diagonal - lists.b_size : 0;
  unsigned high = diagonal < lists.a_size ? diagonal : lists.a_size;
  while (low < high) {
    const unsigned middle = low + (high - low) / 2;
    if (lists.a[middle] < lists.b[diagonal - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Writes this thread's keys of the merged list from position `first` on; last_key() from position `count` on.
template <class K, unsigned kItems>
__device__ void merge_strip(const ListPair<K>& lists, unsigned first, unsigned count, K (&merged)[kItems]) {
  unsigned i = merge_path_split(lists, first);
  unsigned j = first - i;
  KITH_UNROLL
  for (unsigned n = 0; n < kItems; ++n) {
    merged[n] = last_key<K>();
    if (first + n >= count) continue;
    const bool from_a = j >= lists.b_size || (i < lists.a_size && lists.a[i] < lists.b[j]);
    merged[n] = from_a ? lists.a[i++] : lists.b[j++];
  }
}

// Calls put(position, key) for positions first … first + count − 1 of the merged list, consecutive ones in consecutive
// threads. count ≤ kThreads · kItems, the capacity of `shared`. Must be called by all threads; starts with a barrier.
template <unsigned kThreads, unsigned kItems, class K, class Put>
__device__ void merge_tile(const ListPair<K>& lists, unsigned first, unsigned count, K* shared, Put put) {
  KITH_SHARED(unsigned, splits, 2);
  __syncthreads();
  if (threadIdx.x < 2) splits[threadIdx.x] = merge_path_split(lists, first + threadIdx.x * count);
  __syncthreads();
  const unsigned a_first = splits[0];
  const unsigned a_count = splits[1] - a_first;
  const unsigned b_first = first - a_first;
  for (unsigned i = threadIdx.x; i < count; i += kThreads)
    shared[i] = i < a_count ? lists.a[a_first + i] : lists.b[b_first + i - a_count];
  __syncthreads();

  K merged[kItems];
  const ListPair<K> tile{shared, a_count, shared + a_count, count - a_count};
  const unsigned position = threadIdx.x * kItems < count ? threadIdx.x * kItems : count;
  merge_strip(tile, position, count, merged);
  __syncthreads();
  KITH_UNROLL
  for (unsigned n = 0; n < kItems; ++n)
    if (position + n < count) shared[position + n] = merged[n];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += kThreads) put(first + i, shared[i]);
}

// Sorted lists that cover `length` elements, `covered` each, and hold at most the `most` smallest of those.
struct SortedLists {
  std::int64_t length;
  std::int64_t covered;
  std::int64_t most;

  __host__ __device__ std::int64_t count() const { return ceil_div(length, covered); }
  // The number of keys of list i; 0 for a list past the end.
  __host__ __device__ unsigned size(std::int64_t i) const {
    const std::int64_t left = length - i * covered < covered ? length - i * covered : covered;
    return static_cast<unsigned>(left < 0 ? 0 : left < most ? left : most);
  }
  __host__ __device__ std::int64_t capacity() const { return covered < most ? covered : most; }
  // The lists after merging neighbors.
  __host__ __device__ SortedLists merged() const { return {length, 2 * covered, most}; }
};

}  // namespace kith::KITH_BACKEND::inline primitives
