// byte_rows.hpp: points of 8-bit integers as such, for products of tensor cores whose sums have no error. Elsewhere
// their coordinates are floats, of which these are made.
#pragma once

#include <type_traits>

#include "cuda/points/point_rows.hpp"

namespace kith::KITH_BACKEND::inline points {

enum class ByteType { none, int8, uint8 };

// That of points of type T.
template <class T>
constexpr ByteType byte_type_of() {
  if constexpr (std::is_same_v<T, std::int8_t>) return ByteType::int8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return ByteType::uint8;
  return ByteType::none;
}

// Bytes of a row: whole vectors of 16, the last padded with zeros.
constexpr std::int64_t byte_row_bytes(std::int64_t dims) {
  return ceil_div(dims, 16) * 16;
}

struct ByteRows {
  unsigned char* data = nullptr;  // count × row_bytes
  ByteType type = ByteType::none;
  std::int64_t count = 0;
  std::int64_t row_bytes = 0;  // byte_row_bytes(dims), or more in a base

  ByteRows part(std::int64_t first, std::int64_t rows) const {
    return {data + first * row_bytes, type, rows, row_bytes};
  }
};

// Writes the data of `output` from as many rows of integers in the range of its type.
void pack_bytes(const PointRows<float>& rows, std::int64_t dims, const ByteRows& output, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::inline points
