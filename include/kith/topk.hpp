// The k smallest or largest values of each row of a matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/export.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"

namespace kith {

enum class TopkOutput {
  sorted,       // values and ids by (value, id), the best first; NaN last
  unsorted,     // the same set in any order
  values_only,  // sorted values, no ids
  kth_only,     // the k-th value of each row alone
};

// What single selection methods of the cuda and emulated backends let one choose; a method ignores what it has not.
// 0 or `automatic` means the method's own choice.
struct SelectTuning {
  enum class Group { automatic, thread, warp, block };

  bool buffered = false;           // queues, partial-bitonic: collect candidates in a buffer before they are inserted
  bool full_buffer_vote = false;   // queues, buffered: a warp empties its buffers together when one is full
  bool local_sort = false;         // queues, buffered: sort a buffer before it is inserted
  int hierarchical = 0;            // queues: search a hierarchy of group minima, groups of 2, 4 or 8
  bool aligned = true;             // merge-queue: the threads of a warp merge together
  Group group = Group::automatic;  // who works on a row: queues (thread, warp), quick-multi-select (warp, block)
  int merge_size = 0;              // merge-queue: size of its first levels, a power of two
  int buffer_size = 0;             // buffered queues and partial-bitonic: candidates a buffer holds
  int thread_queue = 0;            // warp-select, block-select: length of each thread's queue
  int stages = 0;                  // sample-select: 1 or 2
  int partitions = 0;              // bits-single-row: parts that a row is cut into
  bool scattered = false;          // bits: read a row out of order, so that rows in descending order do it no harm
  bool transposed = false;         // bits: items strided over the block instead of consecutive ones in each thread
};

struct TopkOptions {
  bool largest = false;
  TopkOutput output = TopkOutput::sorted;
  Backend backend = Backend::automatic;
  SelectMethod method = SelectMethod::automatic;
  SelectTuning tuning;
  int threads = 0;                 // of backend cpu, as in Options
  std::int64_t memory_budget = 0;  // bytes of workspace; 0 = what k needs on all threads; cuda: of the device's memory,
                                   // 0 = a quarter of what is free
  ProgressCallback progress;
};

template <class T>
struct Topk {
  std::int64_t rows = 0;
  std::int64_t k = 0;             // values per row: 1 for kth_only
  std::vector<T> values;          // rows × k, row-major
  std::vector<std::int64_t> ids;  // rows × k; empty for values_only and kth_only
};

// Where an answer goes: rows × k values and ids, packed, in the caller's memory; rows × 1 values for kth_only. `ids` is
// not looked at where there are none.
template <class T>
struct TopkView {
  T* values = nullptr;
  std::int64_t* ids = nullptr;
  Memory memory = Memory::host;
};

// −0 equals +0; NaN comes last for smallest and for largest; among equal values the smaller id wins.
template <Element T>
KITH_API Topk<T> topk(MatrixView<T> matrix, std::int64_t k, const TopkOptions& options = {}, void* stream = nullptr);

// The same into the caller's memory. Matrix and answer may lie in host memory or on the current device, in any mix; on
// an error the contents of the answer are unspecified. Where both lie on a device everything is enqueued on the stream
// (a cudaStream_t, as void*) and nothing is waited for, so options.progress is not called; both must stay until the
// stream is done. The workspace then comes from the device's memory pool in the stream's order; with memory_budget = 0
// it may be as large as the method likes.
template <Element T>
KITH_API void topk_into(MatrixView<T> matrix, std::int64_t k, TopkView<T> out, const TopkOptions& options = {},
                        void* stream = nullptr);

}  // namespace kith
