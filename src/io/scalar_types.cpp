#include "io/scalar_types.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

namespace kith::io {
namespace {

template <class T>
T load_number(const std::byte* in, bool big_endian) {
  std::byte bytes[sizeof(T)];
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes[big_endian ? sizeof(T) - 1 - i : i] = in[i];
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

constexpr std::int64_t kLargestInt64 = std::numeric_limits<std::int64_t>::max();

template <class In, class Out>
std::int64_t decode_as(bool big_endian, const std::byte* in, std::int64_t stride, std::int64_t count, void* out) {
  auto* values = static_cast<Out*>(out);
  for (std::int64_t i = 0; i < count; ++i, in += stride) {
    const In value = load_number<In>(in, big_endian);
    if constexpr (std::is_same_v<In, std::uint64_t>) {
      if (value > static_cast<std::uint64_t>(kLargestInt64)) return i;
    }
    values[i] = static_cast<Out>(value);
  }
  return kAllDecoded;
}

}  // namespace

ElementType loaded_type(StoredType stored) {
  switch (stored.kind) {
    case StoredType::Kind::floating:
      return stored.bytes == 2 ? ElementType::float16 : stored.bytes == 4 ? ElementType::float32 : ElementType::float64;
    case StoredType::Kind::bfloat: return ElementType::bfloat16;
    case StoredType::Kind::signed_integer:
      return stored.bytes == 1 ? ElementType::int8 : stored.bytes == 8 ? ElementType::int64 : ElementType::int32;
    case StoredType::Kind::unsigned_integer: break;
  }
  return stored.bytes == 1 ? ElementType::uint8 : stored.bytes == 2 ? ElementType::int32 : ElementType::int64;
}

bool is_native(StoredType stored) {
  return (stored.bytes == 1 || !stored.big_endian) && size_of(loaded_type(stored)) == stored.bytes &&
         (stored.kind != StoredType::Kind::unsigned_integer || stored.bytes == 1);  // uint64 has values to refuse
}

std::int64_t decode(StoredType stored, const std::byte* in, std::int64_t stride, std::int64_t count, void* out) {
  const bool big = stored.big_endian;
  if (is_native(stored) && stride == stored.bytes) {
    if (count > 0) std::memcpy(out, in, static_cast<std::size_t>(count * stride));
    return kAllDecoded;
  }
  switch (stored.kind) {
    case StoredType::Kind::floating:
      switch (stored.bytes) {
        case 2: return decode_as<Float16, Float16>(big, in, stride, count, out);
        case 4: return decode_as<float, float>(big, in, stride, count, out);
        default: return decode_as<double, double>(big, in, stride, count, out);
      }
    case StoredType::Kind::bfloat: return decode_as<BFloat16, BFloat16>(big, in, stride, count, out);
    case StoredType::Kind::signed_integer:
      switch (stored.bytes) {
        case 1: return decode_as<std::int8_t, std::int8_t>(big, in, stride, count, out);
        case 2: return decode_as<std::int16_t, std::int32_t>(big, in, stride, count, out);
        case 4: return decode_as<std::int32_t, std::int32_t>(big, in, stride, count, out);
        default: return decode_as<std::int64_t, std::int64_t>(big, in, stride, count, out);
      }
    case StoredType::Kind::unsigned_integer: break;
  }
  switch (stored.bytes) {
    case 1: return decode_as<std::uint8_t, std::uint8_t>(big, in, stride, count, out);
    case 2: return decode_as<std::uint16_t, std::int32_t>(big, in, stride, count, out);
    case 4: return decode_as<std::uint32_t, std::int64_t>(big, in, stride, count, out);
    default: return decode_as<std::uint64_t, std::int64_t>(big, in, stride, count, out);
  }
}

std::string refused_number(StoredType stored, const std::byte* in) {
  return std::to_string(load_number<std::uint64_t>(in, stored.big_endian)) + " exceeds the largest int64, " +
         std::to_string(kLargestInt64);
}

std::int64_t byte_count(std::int64_t rows, std::int64_t cols, std::int64_t bytes) {
  std::int64_t elements = 0;
  std::int64_t total = 0;
  if (__builtin_mul_overflow(rows, cols, &elements) || __builtin_mul_overflow(elements, bytes, &total)) return -1;
  return total;
}

bool is_aligned(const void* data, ElementType type) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(size_of(type)) == 0;
}

}  // namespace kith::io
