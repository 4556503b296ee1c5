// fused_filter_tile.cuh: the last step of a fused kernel: scores of a tile that are not above their query's limit
// become candidates. Idea    a thread tests all its scores of a tile at once, and single queries and pairs only if one
// of them passes.
//         Pairs that pass go to a buffer of the block; every few tiles its threads append them to the lists, one pair
//         each, so that threads seldom wait for the lists' counters in global memory. Pairs that find the buffer full
//         are appended one by one, which is slow but correct.
#pragma once

#include <limits>

#include "cuda/distance/fused_filter.hpp"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::distance {

// The pairs of a block's tiles.
struct BlockPairs {
  std::int64_t first_row;
  std::int64_t first_column;
  std::int64_t rows;  // of all tiles: rows and columns beyond do not exist
  std::int64_t columns;
};

// Appends a pair to its query's list, unless that is full.
template <class F>
__device__ void store_pair(const CandidateLists<F>& lists, std::int64_t row, std::int64_t column, F score) {
  const unsigned slot = atomicAdd(lists.counts + row, 1U);
  if (slot >= lists.capacity) return;
  lists.scores[row * lists.capacity + slot] = score;
  lists.ids[row * lists.capacity + slot] = lists.first_id + static_cast<unsigned>(column);
}

// Appends a pair to the list of all queries, unless that is full. All threads share one counter, which takes less time
// than copying so many pairs to the host.
template <class F>
__device__ void store_pair(const PairList<F>& list, std::int64_t row, std::int64_t column, F /*score*/) {
  const unsigned long long slot = atomicAdd(list.count, 1ULL);
  if (slot >= list.capacity) return;
  list.queries[slot] = static_cast<unsigned>(row);
  list.ids[slot] = list.first_id + static_cast<unsigned>(column);
}

// Drops pairs of rows and columns that do not exist, and of limits that let nothing pass. NaN scores pass: they may
// stand for a sum that overflowed on its way.
template <class Lists, class F>
__device__ void append_pair(const Lists& lists, const BlockPairs& block, unsigned row_in_block,
                            unsigned column_in_block, F score) {
  const std::int64_t row = block.first_row + row_in_block;
  const std::int64_t column = block.first_column + column_in_block;
  if (row >= block.rows || column >= block.columns) return;
  if (lists.limits[row] != lists.limits[row]) return;
  store_pair(lists, row, column, score);
}

// The limit of a row that scores of tiles are compared with: −infinity where nothing may pass, so that one comparison
// suffices.
template <class F, class Lists>
__device__ __forceinline__ F limit_in_block(const Lists& lists, const BlockPairs& block, unsigned row_in_block) {
  const std::int64_t row = block.first_row + row_in_block;
  const F limit = row < block.rows ? lists.limits[row] : -std::numeric_limits<F>::infinity();
  return limit == limit ? limit : -std::numeric_limits<F>::infinity();
}

template <class F>
struct PassedPair {
  F score;
  unsigned pair;  // column · kPoints + row, counted from the block's first
};

// Shape has kThreads, kPoints (rows and columns of a tile), kRows and kColumns (of a thread).
template <class F, class Shape, class Lists>
struct FilterTile {
  static constexpr unsigned kCapacity = 1024;  // of the buffer
  static constexpr unsigned kTiles = 8;        // between two flushes

  const Lists& lists;
  BlockPairs block;
  F* limits;  // of the block's queries; in shared memory, like the buffer and its count
  PassedPair<F>* buffer;
  unsigned* buffered;

  // Must be called by all threads; a barrier must follow.
  __device__ __forceinline__ void begin() const {
    if (threadIdx.x == 0) *buffered = 0;
    static_assert(Shape::kThreads >= Shape::kPoints);
    if (threadIdx.x < Shape::kPoints) limits[threadIdx.x] = limit_in_block<F>(lists, block, threadIdx.x);
  }

  template <class Pairs>
  __device__ __forceinline__ void operator()(const Pairs& pairs, unsigned tile,
                                             const F (&scores)[Shape::kRows][Shape::kColumns]) const {
    F limit[Shape::kRows];
    pairs.load_rows(limits, limit);
    bool passes = false;
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kRows; ++i) passes |= any_passes(scores[i], limit[i]);
    if (passes) {
      discard_cached_loads();  // the comparisons are repeated, which is rare, rather than kept in registers
      pairs.load_rows(limits, limit);
      KITH_UNROLL
      for (unsigned i = 0; i < Shape::kRows; ++i)
        if (any_passes(scores[i], limit[i])) buffer_row(pairs, pairs.row(i), tile, scores[i], limit[i]);
    }
    if ((tile + 1) % kTiles == 0) flush();
  }

  // Appends the buffer's pairs to the lists. Must be called by all threads; begins and ends with a barrier.
  __device__ void flush() const {
    __syncthreads();
    const unsigned count = min(*buffered, kCapacity);
    for (unsigned i = threadIdx.x; i < count; i += Shape::kThreads)
      append_pair(lists, block, buffer[i].pair % Shape::kPoints, buffer[i].pair / Shape::kPoints, buffer[i].score);
    __syncthreads();
    if (threadIdx.x == 0) *buffered = 0;
    __syncthreads();
  }

 private:
  __device__ __forceinline__ static bool any_passes(const F (&scores)[Shape::kColumns], F limit) {
    bool passes = false;
    KITH_UNROLL
    for (unsigned j = 0; j < Shape::kColumns; ++j) passes |= !(scores[j] > limit);
    return passes;
  }

  // Buffers the scores of one query that pass, of which there is at least one. That is rare: the loop is not unrolled,
  // and its scores lie in local memory, so that the code stays small and needs no registers.
  template <class Pairs>
  __device__ __forceinline__ void buffer_row(const Pairs& pairs, unsigned row, unsigned tile,
                                             const F (&scores)[Shape::kColumns], F limit) const {
    F mine[Shape::kColumns];
    KITH_UNROLL
    for (unsigned j = 0; j < Shape::kColumns; ++j) mine[j] = scores[j];
#pragma unroll 1
    for (unsigned j = 0; j < Shape::kColumns; ++j) {
      if (mine[j] > limit) continue;
      const unsigned column = tile * Shape::kPoints + pairs.column(j);
      const unsigned slot = atomicAdd(buffered, 1U);
      if (slot < kCapacity)
        buffer[slot] = {mine[j], column * Shape::kPoints + row};
      else
        append_pair(lists, block, row, column, mine[j]);
    }
  }
};

}  // namespace kith::KITH_BACKEND::distance
