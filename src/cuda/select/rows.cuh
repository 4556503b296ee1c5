// rows.cuh: the input and the output of a selection.
#pragma once

#include "cuda/primitives/key.cuh"
#include "kith/topk.hpp"

namespace kith::KITH_BACKEND::select {

// The matrix: `rows` rows of `length` values, `stride` values apart. A value's id is its column, or the element of
// `ids` at its position (rows `id_stride` apart; each id below 2^32 − 1 and unique in its row).
template <class T>
struct Rows {
  using Value = T;
  using Key = KeyOf<T>;

  const T* values = nullptr;
  const unsigned* ids = nullptr;
  std::int64_t rows = 0;
  unsigned length = 0;
  std::int64_t stride = 0;
  std::int64_t id_stride = 0;
  bool largest = false;

  __device__ __forceinline__ const T* row(std::int64_t r) const { return values + r * stride; }
  __device__ __forceinline__ unsigned id(std::int64_t r, unsigned column) const {
    return ids == nullptr ? column : ids[r * id_stride + column];
  }
  __device__ __forceinline__ Key key(std::int64_t r, unsigned column) const {
    return make_key(ordered_bits(row(r)[column], largest), id(r, column));
  }
  __device__ __forceinline__ Key key(std::int64_t r, unsigned column, T value) const {
    return make_key(ordered_bits(value, largest), id(r, column));
  }
};

// The output for the k keys of each row: `values` and `ids` are rows × k (rows × 1 for kth_only); ids is null for
// values_only and kth_only.
template <class T>
struct Output {
  T* values = nullptr;
  std::int64_t* ids = nullptr;
  unsigned k = 0;
  TopkOutput form = TopkOutput::sorted;
  Rows<T> source;

  // Writes the key of this rank of a row. For kth_only all ranks but the last are ignored.
  __device__ __forceinline__ void put(std::int64_t row, unsigned rank, const KeyOf<T>& key) const {
    if (form == TopkOutput::kth_only) {
      if (rank + 1 == k) values[row] = original(row, key);
      return;
    }
    const std::int64_t at = row * k + rank;
    values[at] = original(row, key);
    if (ids != nullptr) ids[at] = id_of(key);
  }

 private:
  // The value as it is in the matrix, with its −0 or NaN, unless ids hide the column.
  __device__ __forceinline__ T original(std::int64_t row, const KeyOf<T>& key) const {
    const OrderOf<T> order = order_of(key);
    const bool several = order == kZeroOrder<T> || order == kNanOrder<T>;
    if (several && source.ids == nullptr) return source.row(row)[id_of(key)];
    return value_of<T>(order, source.largest);
  }
};

}  // namespace kith::KITH_BACKEND::select
