// transpose.hpp: rows side by side, so that threads that read one row each read together.
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/select/rows.cuh"

namespace kith::KITH_BACKEND::select {

// Values [group][row][in group]: groups of 2^group_bits consecutive columns stay together.
template <class T>
struct Transposed {
  const T* values = nullptr;
  std::int64_t pitch = 0;  // rows, padded
  unsigned group_bits = 0;
};

// In the workspace, enqueued on its stream.
template <class T>
Transposed<T> transpose(const Rows<T>& rows, unsigned group_bits, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::select
