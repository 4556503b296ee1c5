// row_vectors.cuh: reads a row of any alignment and length in 16-byte vectors.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline primitives {

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = float4;
};
template <>
struct VectorOf<double> {
  using Type = double2;
};

// Vector j holds columns from j·kWidth − skip on; the first and the last may extend beyond the row.
template <class T>
struct RowVectors {
  using Vector = typename VectorOf<T>::Type;
  static constexpr unsigned kWidth = 16 / sizeof(T);

  const T* aligned;  // the row's start, rounded down to a multiple of 16 bytes
  unsigned skip;     // values between there and the row
  unsigned length;

  __device__ RowVectors(const T* row, unsigned row_length)
      : skip(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(row) / sizeof(T)) % kWidth), length(row_length) {
    aligned = row - skip;
  }

  __device__ unsigned count() const { return (skip + length + kWidth - 1) / kWidth; }
  // The column of a value; not below `length` outside the row.
  __device__ unsigned column(unsigned vector, unsigned i) const { return vector * kWidth + i - skip; }
  __device__ bool inside(unsigned vector) const {
    return vector * kWidth >= skip && vector * kWidth + kWidth <= skip + length;
  }

  // Loads a vector that is inside the row, with a streaming hint: the row is read once.
  __device__ __forceinline__ void load_inside(unsigned vector, T (&values)[kWidth]) const {
    unpack(__ldcs(reinterpret_cast<const Vector*>(aligned) + vector), values);
  }

  // Loads any vector; values outside the row become `outside`.
  __device__ __forceinline__ void load(unsigned vector, T (&values)[kWidth], T outside) const {
    if (inside(vector)) return load_inside(vector, values);
    KITH_UNROLL
    for (unsigned i = 0; i < kWidth; ++i) {
      const unsigned c = column(vector, i);
      values[i] = c < length ? aligned[static_cast<std::size_t>(c) + skip] : outside;
    }
  }

  __device__ static void unpack(const float4& from, float (&to)[4]) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
    to[3] = from.w;
  }
  __device__ static void unpack(const double2& from, double (&to)[2]) {
    to[0] = from.x;
    to[1] = from.y;
  }
};

}  // namespace kith::KITH_BACKEND::inline primitives
