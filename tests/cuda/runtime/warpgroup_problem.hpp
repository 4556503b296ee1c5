// warpgroup_problem.hpp: matrices of small integers, exact in every element type, and their product by plain loops.
#pragma once

#include <cstring>
#include <vector>

#include "cuda/runtime/fp16.cuh"
#include "cuda/runtime/tensor_map.hpp"
#include "warpgroup_kernels.cuh"

namespace kith::test {

struct IntegerMatrix {
  unsigned rows;
  unsigned columns;
  std::vector<int> values;

  int at(unsigned row, unsigned column) const {
    return row < rows && column < columns ? values[row * columns + column] : 0;
  }
};

// Values from −8 to 7; from 0 to 15 for unsigned elements.
inline IntegerMatrix integer_matrix(unsigned rows, unsigned columns, unsigned seed, int least) {
  IntegerMatrix matrix{rows, columns, std::vector<int>(std::size_t{rows} * columns)};
  for (int& value : matrix.values) {
    seed = seed * 1664525U + 1013904223U;
    value = least + static_cast<int>(seed >> 28U);
  }
  return matrix;
}

template <WgmmaElement kElement>
void write_element(int value, unsigned char* to) {
  const auto number = static_cast<float>(value);
  if constexpr (kElement == WgmmaElement::fp16) {
    const device::Fp16 element = device::fp16_of(number);
    std::memcpy(to, &element, 2);
  } else if constexpr (kElement == WgmmaElement::bf16) {
    unsigned bits = 0;
    std::memcpy(&bits, &number, 4);
    bits >>= 16U;
    std::memcpy(to, &bits, 2);
  } else {
    *to = static_cast<unsigned char>(value);
  }
}

// Rows as they are in device memory, filled with ones after their last element: copies must not bring that.
template <WgmmaElement kElement>
std::vector<unsigned char> encode(const IntegerMatrix& matrix, std::size_t row_bytes) {
  std::vector<unsigned char> bytes(matrix.rows * row_bytes, 0xFF);
  for (unsigned row = 0; row < matrix.rows; ++row)
    for (unsigned column = 0; column < matrix.columns; ++column)
      write_element<kElement>(matrix.at(row, column), &bytes[row * row_bytes + column * kElementBytes<kElement>]);
  return bytes;
}

// What a kernel of so many rows and columns must give: zeros stand for rows that a matrix does not have.
template <WgmmaElement kElement>
std::vector<WgmmaSum<kElement>> product_of(const IntegerMatrix& left, const IntegerMatrix& right, unsigned rows,
                                           unsigned columns) {
  std::vector<WgmmaSum<kElement>> sums(std::size_t{rows} * columns);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < columns; ++column) {
      int sum = 0;
      for (unsigned i = 0; i < left.columns; ++i) sum += left.at(row, i) * right.at(column, i);
      sums[std::size_t{row} * columns + column] = static_cast<WgmmaSum<kElement>>(sum);
    }
  return sums;
}

template <WgmmaElement kElement>
device::TensorMap map_of(const IntegerMatrix& matrix, const void* base, std::size_t row_bytes, unsigned box_bytes,
                         unsigned box_rows, Swizzle swizzle) {
  return device::tensor_map({.base = base,
                             .element_bytes = kElementBytes<kElement>,
                             .width = matrix.columns,
                             .height = matrix.rows,
                             .row_bytes = row_bytes,
                             .box_width = box_bytes / kElementBytes<kElement>,
                             .box_height = box_rows,
                             .swizzle = swizzle});
}

}  // namespace kith::test
