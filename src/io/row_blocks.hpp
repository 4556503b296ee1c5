// Walks an array in blocks of packed, converted rows, so that a writer needs little memory whatever the strides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kith/io.hpp"

namespace kith::io {

constexpr std::int64_t kBlockBytes = 1 << 20;

// How many rows of `row_bytes` make a block; at least one.
inline std::int64_t rows_per_block(std::int64_t row_bytes) {
  return std::max<std::int64_t>(1, kBlockBytes / std::max<std::int64_t>(1, row_bytes));
}

// Calls f(packed rows, number of rows) for all rows in order; not at all for rows without columns.
template <class F>
void for_row_blocks(const Array& array, ElementType type, F&& f) {
  if (array.cols() == 0) return;
  const std::int64_t row_bytes = array.cols() * size_of(type);
  const std::int64_t step = std::min(array.rows(), rows_per_block(row_bytes));
  std::vector<double> block(static_cast<std::size_t>((step * row_bytes + 7) / 8));  // aligned for every type
  for (std::int64_t row = 0; row < array.rows(); row += step) {
    const std::int64_t count = std::min(step, array.rows() - row);
    array.copy_rows(row, count, type, block.data());
    f(reinterpret_cast<const std::byte*>(block.data()), count);
  }
}

}  // namespace kith::io
