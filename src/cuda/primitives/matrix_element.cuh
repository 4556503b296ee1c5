// matrix_element.cuh: the row and column of an element of a packed matrix, for kernels with one thread per element.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline primitives {

struct MatrixElement {
  std::int64_t row;
  unsigned column;
};

// The position of element `index` in a matrix of `width` columns. Most matrices are small enough for 32-bit division,
// which is several times faster.
__device__ __forceinline__ MatrixElement element_at(std::int64_t index, unsigned width) {
  if (index <= 0xFFFFFFFF) {
    const auto small = static_cast<unsigned>(index);
    return {small / width, small % width};
  }
  return {index / width, static_cast<unsigned>(index % width)};
}

}  // namespace kith::KITH_BACKEND::inline primitives
