// queue_tuning.hpp: what the queue methods make of SelectTuning.
#pragma once

#include <string>

#include "core/limit.hpp"
#include "cuda/select/papers/buffered_search.cuh"
#include "cuda/select/papers/queue_policy.cuh"
#include "kith/topk.hpp"

namespace kith::KITH_BACKEND::select {

struct QueueSearchTuning {
  unsigned threads = 64;      // of a block: few, since there may be only as many threads as rows
  unsigned blocks = 8;        // of a multiprocessor at least: more registers a thread than the compiler would take
  unsigned max_warps = 2048;  // that work at a time where a warp takes a row: bounds their queues
  unsigned max_warp_k = 1024;
  unsigned merge_size = 8;
  unsigned buffer_size = 16;
  unsigned max_buffer_size = 64;
};
constexpr QueueSearchTuning kQueueSearch{};

struct QueueTuning {
  bool warp = false;        // a row a warp
  unsigned group_bits = 0;  // hierarchical partition: log2 of the group; 0: none
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

// Throws where a value is none that `method` knows.
inline QueueTuning queue_tuning(const char* method, const SelectTuning& tuning, unsigned k) {
  using Group = SelectTuning::Group;
  if (tuning.group == Group::block)
    throw Error(ErrorCode::invalid_argument,
                std::string(method) + ": a row is given to a thread or a warp, not to a block");
  QueueTuning checked;
  checked.warp = tuning.group == Group::warp;
  if (checked.warp) require_within(method, "k of a row a warp", k, 1, kQueueSearch.max_warp_k);
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
