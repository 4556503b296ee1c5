// matrix_multiply.hpp: matrix products by cuBLASLt; the emulator multiplies on the host.
//   result (left.count × right.count, row-major) = alpha · left · rightᵀ + bias, which is added to every row
// Sums run over the coordinates in any order. With u the unit roundoff of the result's type and Σ over |left · right|:
// float and double are within alpha · gamma(inner + 4) · Σ; fp16 inputs, whose products tensor cores add without
// rounding to nearest, within alpha · inner · 2^-22 · Σ; tf32 first cuts each input to within 2^-10 of itself. Adding
// the bias rounds once more.
#pragma once

#include "cuda/runtime/fp16.cuh"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::inline primitives {

// The type of sums and results of products of In.
template <class In>
struct ProductOf {
  using Type = In;
};
template <>
struct ProductOf<Fp16> {
  using Type = float;
};

template <class In>
struct MatrixRows {
  const In* data = nullptr;
  std::int64_t count = 0;
  std::int64_t stride = 0;
};

template <class In>
struct MultiplyCall {
  using Out = typename ProductOf<In>::Type;

  MatrixRows<In> left;
  MatrixRows<In> right;
  std::int64_t inner = 0;  // coordinates of a row
  double alpha = 1;
  const Out* bias = nullptr;  // one value per row of `right`, or null
  Out* result = nullptr;
  std::int64_t result_stride = 0;
  bool tf32 = false;  // float only
  Workspace& workspace;
};

// Whether cuBLASLt can be used. It is opened by the first call.
bool can_multiply();

// Enqueues the product on the workspace's stream; In is float, double or Fp16. Allocates at most 32 MiB of the
// workspace, and no more than its budget leaves. Throws Error(no_device) without cuBLASLt.
template <class In>
void multiply(const MultiplyCall<In>& call);

}  // namespace kith::KITH_BACKEND::inline primitives
