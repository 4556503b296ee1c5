// key.cuh: a value and its id as one key, whose order is the order of the result.
// (value, id) becomes an integer, with −0 = +0 and NaN last. All keys of a row differ, ties go to the smaller id
// without further code, and every method that keeps the k smallest keys gives the same result.
//   float:  64 bits, the value's ordered bits above the id
//   double: 64 bits of value beside 32 of id
// `largest` orders by −value; NaN stays last.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline primitives {

using PackedKey = unsigned long long;

struct WideKey {
  unsigned long long order;
  unsigned id;
  unsigned zero;  // always written, so that keys can be read 16 bytes at a time

  __host__ __device__ friend bool operator<(const WideKey& a, const WideKey& b) {
    return a.order < b.order || (a.order == b.order && a.id < b.id);
  }
  __host__ __device__ friend bool operator>(const WideKey& a, const WideKey& b) { return b < a; }
  __host__ __device__ friend bool operator<=(const WideKey& a, const WideKey& b) { return !(b < a); }
  __host__ __device__ friend bool operator>=(const WideKey& a, const WideKey& b) { return !(a < b); }
  __host__ __device__ friend bool operator==(const WideKey& a, const WideKey& b) {
    return a.order == b.order && a.id == b.id;
  }
};

// The integer type for T's order, and the key type of that integer with an id.
template <class T>
struct ValueTraits;

template <>
struct ValueTraits<float> {
  using Order = unsigned;
  using Key = PackedKey;
  static constexpr Order kSign = 0x80000000U;
  static constexpr Order kInfinity = 0x7F800000U;
  __device__ static Order bits(float value) { return __float_as_uint(value); }
  __device__ static float value(Order bits) { return __uint_as_float(bits); }
};

template <>
struct ValueTraits<double> {
  using Order = unsigned long long;
  using Key = WideKey;
  static constexpr Order kSign = 0x8000000000000000ULL;
  static constexpr Order kInfinity = 0x7FF0000000000000ULL;
  __device__ static Order bits(double value) { return static_cast<Order>(__double_as_longlong(value)); }
  __device__ static double value(Order bits) { return __longlong_as_double(static_cast<long long>(bits)); }
};

template <class T>
using KeyOf = typename ValueTraits<T>::Key;

template <class T>
using OrderOf = typename ValueTraits<T>::Order;

// A key above every key of a row, for padding.
template <class K>
__host__ __device__ __forceinline__ K last_key() {
  return ~K{0};
}

template <>
__host__ __device__ __forceinline__ WideKey last_key<WideKey>() {
  return {~0ULL, ~0U, 0U};
}

__host__ __device__ __forceinline__ PackedKey make_key(unsigned order, unsigned id) {
  return static_cast<PackedKey>(order) << 32U | id;
}

__host__ __device__ __forceinline__ WideKey make_key(unsigned long long order, unsigned id) {
  return {order, id, 0U};
}

__host__ __device__ __forceinline__ unsigned order_of(PackedKey key) {
  return static_cast<unsigned>(key >> 32U);
}

__host__ __device__ __forceinline__ unsigned long long order_of(const WideKey& key) {
  return key.order;
}

__host__ __device__ __forceinline__ unsigned id_of(PackedKey key) {
  return static_cast<unsigned>(key);
}

__host__ __device__ __forceinline__ unsigned id_of(const WideKey& key) {
  return key.id;
}

// The orders of ±0 and of NaN, which several values have in common.
template <class T>
constexpr OrderOf<T> kZeroOrder = ValueTraits<T>::kSign;
template <class T>
constexpr OrderOf<T> kNanOrder = ~OrderOf<T>{0};

// The integer whose order is that of the value, or of −value for `largest`.
template <class T>
__device__ __forceinline__ OrderOf<T> ordered_bits(T value, bool largest) {
  using Traits = ValueTraits<T>;
  const OrderOf<T> bits = Traits::bits(value);
  const OrderOf<T> magnitude = bits & ~Traits::kSign;
  if (magnitude > Traits::kInfinity) return kNanOrder<T>;
  const bool negative = ((bits & Traits::kSign) != 0) != largest && magnitude != 0;
  return negative ? ~(magnitude | Traits::kSign) : magnitude | Traits::kSign;
}

// The inverse of ordered_bits, with +0 for ±0 and one NaN for all.
template <class T>
__device__ __forceinline__ T value_of(OrderOf<T> order, bool largest) {
  using Traits = ValueTraits<T>;
  if (order == kNanOrder<T>) return Traits::value(Traits::kInfinity | (Traits::kInfinity >> 1U));
  const bool negative = (order & Traits::kSign) == 0;
  const OrderOf<T> magnitude = (negative ? ~order : order) & ~Traits::kSign;
  return Traits::value(negative != largest && magnitude != 0 ? magnitude | Traits::kSign : magnitude);
}

__device__ __forceinline__ unsigned bit_width(unsigned bits) {
  return 32U - static_cast<unsigned>(__clz(static_cast<int>(bits)));
}

__device__ __forceinline__ unsigned bit_width(unsigned long long bits) {
  return 64U - static_cast<unsigned>(__clzll(static_cast<long long>(bits)));
}

__device__ __forceinline__ PackedKey shuffle_xor(PackedKey key, unsigned lane_mask) {
  return __shfl_xor_sync(kFullMask, key, static_cast<int>(lane_mask));
}

__device__ __forceinline__ WideKey shuffle_xor(const WideKey& key, unsigned lane_mask) {
  return {__shfl_xor_sync(kFullMask, key.order, static_cast<int>(lane_mask)),
          __shfl_xor_sync(kFullMask, key.id, static_cast<int>(lane_mask)), 0U};
}

__device__ __forceinline__ PackedKey shuffle(PackedKey key, unsigned lane) {
  return __shfl_sync(kFullMask, key, static_cast<int>(lane));
}

__device__ __forceinline__ WideKey shuffle(const WideKey& key, unsigned lane) {
  return {__shfl_sync(kFullMask, key.order, static_cast<int>(lane)),
          __shfl_sync(kFullMask, key.id, static_cast<int>(lane)), 0U};
}

}  // namespace kith::KITH_BACKEND::inline primitives
