// pack_rows.hpp: values that lie on the device in any type and layout, as searches and selections work on them: rows
// next to each other, in working precision.
#pragma once

#include "cuda/runtime/platform.cuh"
#include "kith/matrix.hpp"

namespace kith::KITH_BACKEND::inline points {

template <class T, class F>
void pack_rows(const MatrixView<T>& from, F* to, cudaStream_t stream);

// Back to the type they came from.
template <class F, class T>
void convert_values(const F* from, std::int64_t count, T* to, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::inline points
