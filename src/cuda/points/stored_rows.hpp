// stored_rows.hpp: rows of points on the device as they are stored, in a type narrower than working precision.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/runtime/fp16.cuh"
#include "kith/float16.hpp"

namespace kith::KITH_BACKEND::inline points {

enum class StoredType : unsigned char { none, float16, bfloat16, uint8, int8 };

// That of points of type T; none where they are in working precision.
template <class T>
constexpr StoredType stored_type_of() {
  if constexpr (std::is_same_v<T, Float16>) return StoredType::float16;
  if constexpr (std::is_same_v<T, BFloat16>) return StoredType::bfloat16;
  if constexpr (std::is_same_v<T, std::uint8_t>) return StoredType::uint8;
  if constexpr (std::is_same_v<T, std::int8_t>) return StoredType::int8;
  return StoredType::none;
}

struct StoredRows {
  const void* data = nullptr;
  std::int64_t stride = 0;  // elements
  StoredType type = StoredType::none;

  StoredRows from(std::int64_t first) const {
    const std::int64_t bytes = type == StoredType::uint8 || type == StoredType::int8 ? 1 : 2;
    return {static_cast<const unsigned char*>(data) + first * stride * bytes, stride, type};
  }
};

#if defined(__CUDACC__) || defined(KITH_IS_EMULATED)

// Calls use(pointer) with the rows' elements, of a type that widened() takes.
template <class Use>
__device__ __forceinline__ void with_elements(const StoredRows& rows, Use use) {
  switch (rows.type) {
    case StoredType::float16: return use(static_cast<const Fp16*>(rows.data));
    case StoredType::bfloat16: return use(static_cast<const BFloat16*>(rows.data));
    case StoredType::uint8: return use(static_cast<const std::uint8_t*>(rows.data));
    case StoredType::int8: return use(static_cast<const std::int8_t*>(rows.data));
    case StoredType::none: break;
  }
}

// Not of double.
template <class V>
__device__ __forceinline__ float as_float(V value) {
  static_assert(sizeof(V) <= sizeof(float));
  if constexpr (std::is_same_v<V, Fp16>) {
    return float_of(value);
  } else {
    return static_cast<float>(value);
  }
}

template <class V>
__device__ __forceinline__ double widened(V value) {
  if constexpr (std::is_same_v<V, Fp16> || std::is_same_v<V, BFloat16>) {
    return static_cast<double>(as_float(value));
  } else {
    return static_cast<double>(value);
  }
}

#endif

}  // namespace kith::KITH_BACKEND::inline points
