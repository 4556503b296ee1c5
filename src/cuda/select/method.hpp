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

// One function per method, for float and double. Each throws Error(invalid_argument) that names the exceeded limit.
#define KITH_SELECT_METHODS(X)                \
  X(insertion_queue, "insertion-queue")       \
  X(heap_queue, "heap-queue")                 \
  X(merge_queue, "merge-queue")               \
  X(warp_select, "warp-select")               \
  X(partial_bitonic, "partial-bitonic")       \
  X(block_select, "block-select")             \
  X(merge_path, "merge-path")                 \
  X(bits, "bits")                             \
  X(bits_global, "bits-global")               \
  X(bits_single_row, "bits-single-row")       \
  X(quick_multi_select, "quick-multi-select") \
  X(sample_select, "sample-select")           \
  X(radix_select, "radix-select")             \
  X(sort, "sort")                             \
  X(threshold_filter, "threshold-filter")

#define KITH_DECLARE(function, name) \
  template <class T>                 \
  void function(const SelectCall<T>& call);
namespace methods {
KITH_SELECT_METHODS(KITH_DECLARE)
}
#undef KITH_DECLARE

}  // namespace kith::KITH_BACKEND::select
