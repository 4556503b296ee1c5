// fused_filter_tile.cuh: what a fused kernel does with a tile of scores: those that are not above their query's limit
// become candidates. A thread looks at all its scores of a tile at once, and only if one of them passes at single
// queries and pairs. What passes goes to a buffer of the block; every few tiles its threads append the buffer's pairs
// to the lists of their queries, one each, so that the counters of the lists, in global memory, keep nobody waiting.
// Pairs that find the buffer full are appended one by one, which is slow and right.
#pragma once

#include <limits>

#include "cuda/distance/fused_filter.hpp"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::distance {

// The pairs of a block's tiles.
struct BlockPairs {
  std::int64_t first_row;
  std::int64_t first_column;
  std::int64_t rows;  // that exist, as columns do
  std::int64_t columns;
};

// Where a query's list has place, a pair goes there.
template <class F>
__device__ void put(const CandidateLists<F>& lists, std::int64_t row, std::int64_t column, F score) {
  const unsigned place = atomicAdd(lists.counts + row, 1U);
  if (place >= lists.room) return;
  lists.scores[row * lists.room + place] = score;
  lists.ids[row * lists.room + place] = lists.first_id + static_cast<unsigned>(column);
}

// One counter for all takes its time; so many pairs take longer on their way to the host.
template <class F>
__device__ void put(const PairList<F>& list, std::int64_t row, std::int64_t column, F /*score*/) {
  const unsigned long long place = atomicAdd(list.count, 1ULL);
  if (place >= list.room) return;
  list.queries[place] = static_cast<unsigned>(row);
  list.ids[place] = list.first_id + static_cast<unsigned>(column);
}

// NaN counts as not above the limit: it may stand for a sum that overflowed on its way. Rows and columns that do not
// exist, and limits that let nothing pass, are sorted out here.
template <class Lists, class F>
__device__ void append(const Lists& lists, const BlockPairs& block, unsigned row_in_block, unsigned column_in_block,
                       F score) {
  const std::int64_t row = block.first_row + row_in_block;
  const std::int64_t column = block.first_column + column_in_block;
  if (row >= block.rows || column >= block.columns) return;
  if (lists.limits[row] != lists.limits[row]) return;
  put(lists, row, column, score);
}

template <class F>
struct Passed {
  F score;
  unsigned pair;  // column · kPoints + row, counted from the block's first
};

// Shape has kThreads, kPoints (of a tile's side), kRows and kColumns (of a thread's part of it).
template <class F, class Shape, class Lists>
struct FilterTile {
  static constexpr unsigned kRoom = 1024;  // of the buffer
  static constexpr unsigned kTiles = 8;    // before it is emptied

  const Lists& lists;
  BlockPairs block;
  F* limits;  // of the block's queries, in shared memory as the buffer is
  Passed<F>* buffer;
  unsigned* buffered;

  // All threads call; a barrier must follow. Limits that let nothing pass become one that lets almost nothing pass, so
  // that a comparison is enough to see that there is nothing to do.
  __device__ __forceinline__ void begin() const {
    if (threadIdx.x == 0) *buffered = 0;
    static_assert(Shape::kThreads >= Shape::kPoints);
    if (threadIdx.x >= Shape::kPoints) return;
    const std::int64_t row = block.first_row + threadIdx.x;
    const F limit = row < block.rows ? lists.limits[row] : -std::numeric_limits<F>::infinity();
    limits[threadIdx.x] = limit == limit ? limit : -std::numeric_limits<F>::infinity();
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
      discard_cached_loads();  // who passes is found out again: that is rare
      pairs.load_rows(limits, limit);
      KITH_UNROLL
      for (unsigned i = 0; i < Shape::kRows; ++i)
        if (any_passes(scores[i], limit[i])) put_row(pairs, pairs.row(i), tile, scores[i], limit[i]);
    }
    if ((tile + 1) % kTiles == 0) empty();
  }

  // All threads call.
  __device__ void empty() const {
    __syncthreads();
    const unsigned count = min(*buffered, kRoom);
    for (unsigned i = threadIdx.x; i < count; i += Shape::kThreads)
      append(lists, block, buffer[i].pair % Shape::kPoints, buffer[i].pair / Shape::kPoints, buffer[i].score);
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

  // The scores of one query, one of which passes. That is rare: the loop is not unrolled, and its scores wait in local
  // memory, so that the code stays small and needs no registers.
  template <class Pairs>
  __device__ __forceinline__ void put_row(const Pairs& pairs, unsigned row, unsigned tile,
                                          const F (&scores)[Shape::kColumns], F limit) const {
    F mine[Shape::kColumns];
    KITH_UNROLL
    for (unsigned j = 0; j < Shape::kColumns; ++j) mine[j] = scores[j];
#pragma unroll 1
    for (unsigned j = 0; j < Shape::kColumns; ++j) {
      if (mine[j] > limit) continue;
      const unsigned column = tile * Shape::kPoints + pairs.column(j);
      const unsigned place = atomicAdd(buffered, 1U);
      if (place < kRoom)
        buffer[place] = {mine[j], column * Shape::kPoints + row};
      else
        append(lists, block, row, column, mine[j]);
    }
  }
};

}  // namespace kith::KITH_BACKEND::distance
