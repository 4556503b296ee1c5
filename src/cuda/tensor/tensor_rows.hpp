// tensor_rows.hpp: points in fp16 as operands of tensor_filter().
#pragma once

#include "cuda/points/fp16_rows.hpp"
#include "cuda/tensor/tensor_filter.hpp"

namespace kith::KITH_BACKEND::tensor {

// Scores of centered points: ‖y‖² − 2⟨x,y⟩ with `bias`, the squared norms of the base, else −⟨x,y⟩.
inline TensorProduct fp16_product(const Fp16Rows& queries, const Fp16Rows& base, const float* bias) {
  const auto rows = [](const Fp16Rows& of) {
    return TensorRows{of.data, nullptr, of.count, of.stride * static_cast<std::int64_t>(sizeof(Fp16))};
  };
  const double unscale = 1 / (queries.scale * base.scale);
  return {.element = Element::fp16,
          .queries = rows(queries),
          .base = rows(base),
          .dims = queries.stride,
          .bias = bias,
          .factor = static_cast<float>(bias != nullptr ? -2 * unscale : -unscale)};
}

}  // namespace kith::KITH_BACKEND::tensor
