// queue_tuning.hpp: the options of the queue methods of Tang et al., checked and completed from SelectTuning.
// For comparison with Tang et al. only: `auto` never chooses a method that uses it.
#pragma once

#include <string>

#include "core/limit.hpp"
#include "cuda/select/papers/buffered_search.cuh"
#include "cuda/select/papers/queue_policy.cuh"
#include "kith/topk.hpp"

namespace kith::KITH_BACKEND::select {

struct QueueSearchTuning {
  unsigned threads = 64;      // per block: few, since there may be only as many threads as rows
  unsigned blocks = 8;        // resident per multiprocessor: allows more registers than the compiler's default
  unsigned max_warps = 2048;  // at a time with one warp per row: bounds the memory of their queues
  unsigned max_warp_k = 1024;
  unsigned merge_size = 8;
  unsigned buffer_size = 16;
  unsigned max_buffer_size = 64;
};
constexpr QueueSearchTuning kQueueSearch{};

struct QueueTuning {
  bool warp = false;        // one warp per row
  unsigned group_bits = 0;  // log2 of the hierarchical partition's groups; 0: no partition
  QueueOptions queue;
  BufferOptions buffer;
};

inline unsigned checked_group_bits(const char* method, int group) {
  switch (group) {
    case 0: return 0;
    case 2: return 1;
    case 4: return 2;
    case 8: return 3;
    default:
      throw Error(ErrorCode::invalid_argument, std::string(method) + ": groups of " + std::to_string(group) +
                                                   " in the hierarchical partition; 2, 4 and 8 are known");
  }
}

inline unsigned checked_merge_size(const char* method, int size) {
  if (size == 0) return kQueueSearch.merge_size;
  if (size < 0 || (size & (size - 1)) != 0)
    throw Error(ErrorCode::invalid_argument,
                std::string(method) + ": merge_size = " + std::to_string(size) + " is no power of two");
  return static_cast<unsigned>(size);
}

// Throws Error(invalid_argument) for a value that `method` does not support.
inline QueueTuning queue_tuning(const char* method, const SelectTuning& tuning, unsigned k) {
  using Group = SelectTuning::Group;
  if (tuning.group == Group::block)
    throw Error(ErrorCode::invalid_argument,
                std::string(method) + ": a row is given to a thread or a warp, not to a block");
  QueueTuning checked;
  checked.warp = tuning.group == Group::warp;
  if (checked.warp) require_within(method, "k with one warp per row", k, 1, kQueueSearch.max_warp_k);
  checked.group_bits = checked_group_bits(method, tuning.hierarchical);
  checked.queue = {checked_merge_size(method, tuning.merge_size), tuning.aligned};
  if (!tuning.buffered) return checked;
  const unsigned size = kQueueSearch.buffer_size;
  if (tuning.buffer_size != 0)
    require_within(method, "buffer_size", tuning.buffer_size, 1, kQueueSearch.max_buffer_size);
  checked.buffer = {tuning.buffer_size == 0 ? size : static_cast<unsigned>(tuning.buffer_size), tuning.full_buffer_vote,
                    tuning.local_sort};
  return checked;
}

}  // namespace kith::KITH_BACKEND::select
