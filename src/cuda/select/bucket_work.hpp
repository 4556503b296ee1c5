// bucket_work.hpp: what a launch of sample select or radix select needs beside the rows.
#pragma once

#include "cuda/select/method.hpp"
#include "cuda/select/resident.hpp"

namespace kith::KITH_BACKEND::select {

struct BucketTuning {
  unsigned short_row = 1 << 15;  // below this the block's own work outweighs reading: blocks of 256 threads, not 512
  unsigned aux_part = 4;         // the auxiliary array holds this part of a row
};
constexpr BucketTuning kBucketTuning;

// Blocks that an SM should hold at once: what registers allow with hardly a spill.
template <class T, unsigned kThreads>
constexpr unsigned kBlocksAtOnce = (sizeof(T) == sizeof(float) ? 1536 : 1024) / kThreads;

template <class T>
struct BucketWork {
  bool short_rows;
  std::int64_t blocks;
  KeyOf<T>* out;  // rows × k
  KeyOf<T>* aux;  // blocks × aux_size
  unsigned aux_size;
};

template <class T>
BucketWork<T> take_work(const SelectCall<T>& call) {
  using Key = KeyOf<T>;
  const std::int64_t rows = call.rows.rows;
  BucketWork<T> work{};
  work.short_rows = call.rows.length < kBucketTuning.short_row;
  work.out = call.workspace.template allocate<Key>(static_cast<std::size_t>(rows) * call.k());
  // An even number of keys, so that every block's share starts at a multiple of 16 bytes.
  work.aux_size = (call.rows.length / kBucketTuning.aux_part / 2 + 1) * 2;
  work.blocks = resident_groups(call.workspace, rows, work.aux_size * sizeof(Key));
  work.aux = call.workspace.template allocate<Key>(static_cast<std::size_t>(work.blocks) * work.aux_size);
  return work;
}

}  // namespace kith::KITH_BACKEND::select
