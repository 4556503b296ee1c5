// element.cuh: one thread for each element of a matrix whose rows are packed.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND {

struct Element {
  std::int64_t row;
  unsigned column;
};

// Where element `index` of a matrix of `width` columns is. Most matrices are small enough for the short division.
__device__ __forceinline__ Element element_at(std::int64_t index, unsigned width) {
  if (index <= 0xFFFFFFFF) {
    const auto small = static_cast<unsigned>(index);
    return {small / width, small % width};
  }
  return {index / width, static_cast<unsigned>(index % width)};
}

__device__ __forceinline__ std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

}  // namespace kith::KITH_BACKEND
