// move_rows.hpp: gathers and scatters rows by index, and converts ids between 32 and 64 bits.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline primitives {

// gather_rows copies rows chosen[i] of `from`, `width` values each, to rows i of `to`; scatter_rows does the reverse.
template <class V>
void gather_rows(const V* from, const unsigned* chosen, std::int64_t count, std::int64_t width, V* to,
                 cudaStream_t stream);
template <class V>
void scatter_rows(const V* from, const unsigned* chosen, std::int64_t count, std::int64_t width, V* to,
                  cudaStream_t stream);

void narrow_ids(const std::int64_t* ids, std::int64_t count, unsigned* out, cudaStream_t stream);
void widen_ids(const unsigned* ids, std::int64_t count, std::int64_t* out, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::inline primitives
