// move_rows.hpp: rows gathered and scattered by their numbers, and ids between 32 and 64 bits.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline primitives {

// Rows chosen[i] of `from`, `width` values each, to rows i of `to`; and back.
template <class V>
void gather_rows(const V* from, const unsigned* chosen, std::int64_t count, std::int64_t width, V* to,
                 cudaStream_t stream);
template <class V>
void scatter_rows(const V* from, const unsigned* chosen, std::int64_t count, std::int64_t width, V* to,
                  cudaStream_t stream);

// 64-bit ids as 32-bit ones.
void narrow_ids(const std::int64_t* ids, std::int64_t count, unsigned* out, cudaStream_t stream);

// 32-bit ids as 64-bit ones.
void widen_ids(const unsigned* ids, std::int64_t count, std::int64_t* out, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::inline primitives
