// method.hpp: the list of selection methods.
// Each writes the k smallest keys of each row of a device matrix to the output, in the form of `output.form`. All work
// is enqueued on workspace.stream(); no method waits for the device. All methods give the same result.
#pragma once

#include <array>
#include <string_view>

#include "cuda/runtime/workspace.hpp"
#include "cuda/select/rows.cuh"

namespace kith::KITH_BACKEND::select {

template <class T>
struct SelectCall {
  const Rows<T>& rows;
  Output<T> output;
  const SelectTuning& tuning;
  Workspace& workspace;

  unsigned k() const { return output.k; }
  cudaStream_t stream() const { return workspace.stream(); }
};

// One function a method, one source file a function or family; float and double. Each throws Error(invalid_argument)
// naming the limit it was asked to pass.
#define KITH_SELECT_METHODS(X) \
  X(insertion_queue)           \
  X(heap_queue)                \
  X(merge_queue)               \
  X(warp_select)               \
  X(partial_bitonic)           \
  X(block_select)              \
  X(merge_path)                \
  X(bits)                      \
  X(bits_global)               \
  X(bits_single_row)           \
  X(quick_multi_select)        \
  X(sample_select)             \
  X(radix_select)              \
  X(sort)                      \
  X(threshold_filter)

#define KITH_DECLARE(function) \
  template <class T>           \
  void function(const SelectCall<T>& call);
namespace methods {
KITH_SELECT_METHODS(KITH_DECLARE)
}
#undef KITH_DECLARE

}  // namespace kith::KITH_BACKEND::select
