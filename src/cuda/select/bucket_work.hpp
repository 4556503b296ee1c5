// bucket_work.hpp: launch parameters and workspace of sample select and radix select.
#pragma once

#include "cuda/runtime/properties.hpp"
#include "cuda/select/method.hpp"
#include "cuda/select/resident.hpp"

namespace kith::KITH_BACKEND::select {

constexpr unsigned kAuxDivisor = 4;  // the auxiliary array holds 1 / kAuxDivisor of a row

// Resident blocks per multiprocessor: as many as registers allow with hardly a spill.
template <class T, unsigned kThreads>
constexpr unsigned kBucketBlocks = (sizeof(T) == sizeof(float) ? 1536 : 1024) / kThreads;

template <class T>
struct BucketWork {
  bool short_rows;  // work in shared memory dominates: 256 threads per block, not 512
  std::int64_t blocks;
  KeyOf<T>* out;  // rows × k
  KeyOf<T>* aux;  // blocks × aux_size
  unsigned aux_size;
};

template <class T>
BucketWork<T> allocate_bucket_work(const SelectCall<T>& call) {
  using Key = KeyOf<T>;
  const std::int64_t rows = call.rows.rows;
  BucketWork<T> work{};
  work.short_rows = call.rows.length < device_policy().bucket_short_row;
  work.out = call.workspace.template allocate<Key>(static_cast<std::size_t>(rows) * call.k());
  // An even number of keys, so that every block's array starts at a multiple of 16 bytes.
  work.aux_size = (call.rows.length / kAuxDivisor / 2 + 1) * 2;
  work.blocks = resident_groups(call.workspace, rows, work.aux_size * sizeof(Key));
  work.aux = call.workspace.template allocate<Key>(static_cast<std::size_t>(work.blocks) * work.aux_size);
  return work;
}

}  // namespace kith::KITH_BACKEND::select
