// transpose.hpp: the transposed matrix, in which threads that read one row each have coalesced accesses.
// For comparison with Tang et al. only: `auto` never chooses a method that uses it.
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/select/rows.cuh"

namespace kith::KITH_BACKEND::select {

// Values with the layout [group][row][in group], in groups of 2^group_bits consecutive columns.
template <class T>
struct Transposed {
  const T* values = nullptr;
  std::int64_t pitch = 0;  // rows, padded to whole warps
  unsigned group_bits = 0;
};

// Transposes into the workspace, on its stream.
template <class T>
Transposed<T> transpose(const Rows<T>& rows, unsigned group_bits, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::select
