// row_list.cuh: the values that a thread of a queue search reads, and the layout of its data, in which a warp's
// accesses coalesce. For comparison with Tang et al. only: `auto` never chooses a method that uses it.
#pragma once

#include "cuda/select/rows.cuh"

namespace kith::KITH_BACKEND::select {

// One thread's elements of an array with the layout [position][thread].
template <class E>
struct Interleaved {
  E* first = nullptr;
  std::int64_t pitch = 0;  // threads

  __device__ __forceinline__ E& operator[](unsigned position) const { return first[position * pitch]; }
};

// The values that one thread searches: a row, a lane's part of a row, or the minima of groups of these. Groups of
// 2^group_bits values are contiguous and `step` apart, with the groups of other threads between them; columns are
// numbered in the same way.
template <class T>
struct RowList {
  const T* values = nullptr;
  std::int64_t step = 0;
  unsigned group_bits = 0;
  unsigned count = 0;  // 0 for a thread that has no row
  unsigned first_column = 0;
  unsigned column_step = 1;
  const unsigned* ids = nullptr;  // of the row's columns; null: the id is the column
  bool largest = false;

  __device__ __forceinline__ unsigned in_group(unsigned i) const { return i & ((1U << group_bits) - 1); }
  __device__ __forceinline__ T value(unsigned i) const { return values[(i >> group_bits) * step + in_group(i)]; }
  __device__ __forceinline__ OrderOf<T> order(unsigned i) const { return ordered_bits(value(i), largest); }
  __device__ __forceinline__ unsigned id(unsigned i) const {
    const unsigned column = (i >> group_bits) * column_step + first_column + in_group(i);
    return ids == nullptr ? column : ids[column];
  }
};

}  // namespace kith::KITH_BACKEND::select
