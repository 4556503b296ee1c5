// byte_groups.hpp: the coordinates of a row of bytes, as they lie in lanes of 32 bits.
#pragma once

#include <cstdint>

#include "cpu/simd/byte_scores.hpp"

namespace kith::cpu {

// The bit in which bytes of the base differ from −128 … 127, and those of queries from 0 … 255.
inline std::uint8_t base_flip(const ByteRows& rows) {
  return rows.is_signed ? 0 : 0x80;
}
inline std::uint8_t query_flip(const ByteRows& rows) {
  return rows.is_signed ? 0x80 : 0;
}

// Coordinates `first` … of a row in a lane; `value_of` makes an integer of a byte. Those past the end are zeros.
template <class ValueOf>
std::uint32_t group_at(ByteLayout layout, const std::uint8_t* row, std::int64_t first, std::int64_t dims,
                       ValueOf value_of) {
  const std::int64_t count = byte_group(layout);
  const std::int64_t bits = 32 / count;
  std::uint32_t group = 0;
  for (std::int64_t i = 0; i < count && first + i < dims; ++i) {
    const auto value = static_cast<std::uint32_t>(value_of(row[first + i])) & ((1U << bits) - 1);
    group |= value << (i * bits);
  }
  return group;
}

}  // namespace kith::cpu
