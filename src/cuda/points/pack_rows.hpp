// pack_rows.hpp: values on the device, of any type and layout, copied to packed rows in working precision.
#pragma once

#include "cuda/runtime/platform.cuh"
#include "kith/matrix.hpp"

namespace kith::KITH_BACKEND::inline points {

template <class T, class F>
void pack_rows(const MatrixView<T>& from, F* to, cudaStream_t stream);

// Converts values back to the type they came from.
template <class F, class T>
void convert_values(const F* from, std::int64_t count, T* to, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::inline points
