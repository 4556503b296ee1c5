// Element types at run time: sizes, one dispatch to a template, and the types that files store but arrays do not have.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "kith/io.hpp"

namespace kith::io {

// vecs, bin and ground-truth files are little endian and are mapped as they are.
static_assert(std::endian::native == std::endian::little, "the readers and writers assume a little-endian machine");

template <class T>
struct TypeTag {
  using type = T;
};

// Calls f with the TypeTag of a run-time type.
template <class F>
decltype(auto) with_type(ElementType type, F&& f) {
  switch (type) {
    case ElementType::float32: return std::forward<F>(f)(TypeTag<float>{});
    case ElementType::float64: return std::forward<F>(f)(TypeTag<double>{});
    case ElementType::uint8: return std::forward<F>(f)(TypeTag<std::uint8_t>{});
    case ElementType::int8: return std::forward<F>(f)(TypeTag<std::int8_t>{});
    case ElementType::int32: return std::forward<F>(f)(TypeTag<std::int32_t>{});
    case ElementType::float16: return std::forward<F>(f)(TypeTag<Float16>{});
    case ElementType::bfloat16: return std::forward<F>(f)(TypeTag<BFloat16>{});
    case ElementType::int64: break;
  }
  return std::forward<F>(f)(TypeTag<std::int64_t>{});
}

template <class T>
constexpr bool kHas16Bits = std::same_as<T, Float16> || std::same_as<T, BFloat16>;

// A number that the language computes with: floats of 16 bits as float, which holds them, others as they are.
template <Scalar T>
constexpr auto widened(T value) {
  if constexpr (kHas16Bits<T>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

// A number as a file stores it.
struct StoredType {
  enum class Kind { floating, bfloat, signed_integer, unsigned_integer };
  Kind kind = Kind::floating;
  int bytes = 4;  // floating: 2, 4, 8; bfloat: 2; integers: 1, 2, 4, 8
  bool big_endian = false;
};

// The narrowest element type that holds every stored value; int64 for uint64, whose upper half is refused.
ElementType loaded_type(StoredType stored);

// Whether the stored bytes, where aligned, are elements of loaded_type as they lie.
bool is_native(StoredType stored);

constexpr std::int64_t kAllDecoded = -1;

// Decodes `count` stored numbers, `stride` bytes apart, into elements of loaded_type, packed. Returns the index of the
// first that does not fit, else kAllDecoded.
std::int64_t decode(StoredType stored, const std::byte* in, std::int64_t stride, std::int64_t count, void* out);

// Why decode() refused the number at `in`, in words that name it and the limit.
std::string refused_number(StoredType stored, const std::byte* in);

// rows × cols × bytes, or −1 when that does not fit 63 bits.
std::int64_t byte_count(std::int64_t rows, std::int64_t cols, std::int64_t bytes);

bool is_aligned(const void* data, ElementType type);

}  // namespace kith::io
