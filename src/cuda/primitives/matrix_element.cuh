// element.cuh: one thread for each element of a matrix whose rows are packed.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline primitives {

struct MatrixElement {
  std::int64_t row;
  unsigned column;
};

// Where element `index` of a matrix of `width` columns is. Most matrices are small enough for the short division.
__device__ __forceinline__ MatrixElement element_at(std::int64_t index, unsigned width) {
  if (index <= 0xFFFFFFFF) {
    const auto small = static_cast<unsigned>(index);
    return {small / width, small % width};
  }
  return {index / width, static_cast<unsigned>(index % width)};
}

}  // namespace kith::KITH_BACKEND::inline primitives
