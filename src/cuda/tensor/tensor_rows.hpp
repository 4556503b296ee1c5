// tensor_rows.hpp: points of the stores as operands of tensor_filter.hpp.
#pragma once

#include "cuda/points/byte_rows.hpp"
#include "cuda/points/fp16_rows.hpp"
#include "cuda/tensor/tensor_filter.hpp"

namespace kith::KITH_BACKEND::tensor {

inline TensorRows tensor_rows(const Fp16Rows& rows) {
  return {rows.data, rows.remainders, rows.count, rows.stride * element_bytes(Element::fp16)};
}
inline TensorRows tensor_rows(const ByteRows& rows) {
  return {rows.data, nullptr, rows.count, rows.row_bytes};
}

// Scores of centered points: ‖y‖² − 2⟨x,y⟩ with `bias`, the squared norms of the base, else −⟨x,y⟩. With remainders
// where both sets have them.
inline TensorProduct fp16_product(const Fp16Rows& queries, const Fp16Rows& base, const float* bias) {
  const bool split = queries.remainders != nullptr && base.remainders != nullptr;
  const double products = bias == nullptr ? -1 : -2;
  TensorProduct product{.element = Element::fp16,
                        .queries = tensor_rows(queries),
                        .base = tensor_rows(base),
                        .dims = queries.stride,
                        .bias = bias,
                        .factor = static_cast<float>(products / (queries.scale * base.scale))};
  if (!split) product.queries.remainders = product.base.remainders = nullptr;
  return product;
}

// The same of points of integers, whose scores have no error; the bias is that of the exact points.
inline TensorProduct byte_product(const ByteRows& queries, const ByteRows& base, const float* bias) {
  return {.element = base.type == ByteType::int8 ? Element::int8 : Element::uint8,
          .queries = tensor_rows(queries),
          .base = tensor_rows(base),
          .dims = queries.row_bytes,
          .bias = bias,
          .factor = bias == nullptr ? -1.0F : -2.0F};
}

}  // namespace kith::KITH_BACKEND::tensor
