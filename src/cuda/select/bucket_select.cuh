// bucket_select.cuh: the loop of sample select and radix select (Hanák, 3.7 and 4.3), one block per row.
// The set starts as the whole row. While it is too large for the registers of the block, it is cut into buckets, their
// histogram is counted in shared memory, and the bucket that holds the k-th key becomes the set. A set that fits in the
// auxiliary array moves there, and all later passes read only that.
//   one stage   the pass that moves the set also writes the keys below it, which belong to the result
//   two stages  only the set is moved; when the k-th key is known, a last pass over the row collects the keys up to it
// Keys are unique, so the set shrinks to the exact result even if values repeat.
#pragma once

#include "cuda/primitives/append.cuh"
#include "cuda/primitives/bitonic.cuh"
#include "cuda/primitives/block.cuh"
#include "cuda/primitives/scan.cuh"
#include "cuda/select/rows.cuh"

namespace kith::KITH_BACKEND::select {

// The keys that may still be the k-th: low ≤ key < end, `count` keys, of which the `rank` smallest are in the result.
template <class K>
struct Cut {
  K low;
  K end;
  unsigned count;
  unsigned rank;
};

// The keys of a row, or of the auxiliary array if `keys` is set.
template <class T>
struct RowKeySource {
  const Rows<T>* rows;
  std::int64_t row;
  const KeyOf<T>* keys;
  unsigned count;

  __device__ KeyOf<T> key(unsigned i) const { return keys == nullptr ? rows->key(row, i) : keys[i]; }

  // Calls visit(key) for every key and, to complete warps, for last_key(), which is above every cut.
  template <unsigned kThreads, class Visit>
  __device__ void scan_row(Visit&& visit) const {
    scan<kThreads>(rows->row(row), count, [&](unsigned column, T value, bool valid) {
      visit(valid ? rows->key(row, column, value) : last_key<KeyOf<T>>());
    });
  }
  template <unsigned kThreads, bool kInPlace, class Visit>
  __device__ void scan_keys(Visit&& visit) const {
    scan<kThreads, kInPlace>(
        keys, count, [&](unsigned, const KeyOf<T>& key, bool valid) { visit(valid ? key : last_key<KeyOf<T>>()); });
  }
};

// Selects the k smallest keys of a row. Buckets cuts a set into kBuckets parts:
//   Buckets(source, cut, round, scratch)  chooses the parts; called by all threads
//   unsigned bucket(key)                  the part of a key of the set
//   Cut part(cut, b)                      the bounds of part b
//   kFromSource                           parts are chosen from a sample of the source, which must be exactly the set
template <class T, class Buckets, unsigned kThreads>
class BucketSelect {
 public:
  using Key = KeyOf<T>;
  static constexpr unsigned kItems = 4;
  static constexpr unsigned kInRegisters = kThreads * kItems;  // keys that the block can sort

  // The bucket with the k-th key, the number of its keys, and the rank among them. Aligned, so that one vector load
  // reads it without its neighbors.
  struct alignas(16) Found {
    unsigned bucket;
    unsigned count;
    unsigned rank;
  };

  struct Scratch {
    Key keys[kInRegisters];
    unsigned counts[Buckets::kBuckets];
    unsigned warp_sums[kThreads / kWarp + 1];
    typename Buckets::Shared buckets;
    Found found;
    unsigned written;  // keys written to the result
    unsigned moved;    // keys of the set written to its new array
    Key end;
  };

  // `aux` holds aux_size keys and starts at a multiple of 16 bytes; if aux_size is 0 every pass reads the row.
  __device__ BucketSelect(const Rows<T>& rows, std::int64_t row, Key* aux, unsigned aux_size, Scratch& scratch)
      : source_{&rows, row, nullptr, rows.length}, aux_(aux), aux_size_(aux_size), scratch_(scratch) {}

  // Writes the k smallest keys of the row to `out`, in any order. Must be called by all threads; ends with a barrier.
  __device__ void in_one_stage(unsigned k, Key* out) {
    Cut<Key> cut = start(k);
    narrow(cut, out);
    if (cut.rank == cut.count) cut.low = cut.end;  // the whole set belongs to the result
    move(cut, scratch_.keys, out);
    if (cut.rank < cut.count)
      sort_set(cut.count, [&](unsigned rank, const Key& key) {
        if (rank < cut.rank) out[k - cut.rank + rank] = key;
      });
    __syncthreads();
  }

  __device__ void in_two_stages(unsigned k, Key* out) {
    Cut<Key> cut = start(k);
    narrow(cut, nullptr);
    if (cut.rank < cut.count) {
      move(cut, scratch_.keys, nullptr);
      sort_set(cut.count, [&](unsigned rank, const Key& key) {
        if (rank == cut.rank) scratch_.end = key;
      });
      __syncthreads();
      cut.end = scratch_.end;
    }
    source_ = {source_.rows, source_.row, nullptr, source_.rows->length};
    cut.low = cut.end;
    move(cut, scratch_.keys, out);
  }

 private:
  __device__ Cut<Key> start(unsigned k) {
    if (threadIdx.x == 0) scratch_.written = 0;
    return {Key{}, last_key<Key>(), source_.count, k};
  }

  // Narrows the set until it fits in registers or belongs to the result as a whole.
  __device__ void narrow(Cut<Key>& cut, Key* out) {
    for (unsigned round = 0; cut.count > kInRegisters && cut.rank < cut.count; ++round) {
      const Buckets buckets(source_, cut, round, scratch_);
      count(cut, buckets);
      find_bucket(cut.rank);
      const Found found = scratch_.found;
      Cut<Key> part = buckets.part(cut, found.bucket);
      part.count = found.count;
      part.rank = found.rank;
      const bool last = part.count <= kInRegisters || part.rank == part.count;
      const bool fits = source_.keys != nullptr || part.count <= aux_size_;
      if (Buckets::kFromSource && !last && !fits) continue;  // an unlucky sample: draw another one
      cut = part;
      if (last || !fits) continue;
      move(cut, aux_, out);
      source_ = {source_.rows, source_.row, aux_, cut.count};
    }
  }

  // Counts the histogram of the set. Ends with a barrier.
  __device__ void count(const Cut<Key>& cut, const Buckets& buckets) {
    for (unsigned b = threadIdx.x; b < Buckets::kBuckets; b += kThreads) scratch_.counts[b] = 0;
    __syncthreads();
    const auto visit = [&](const Key& key) {
      if (key < cut.low || !(key < cut.end)) return;
      atomicAdd(&scratch_.counts[buckets.bucket(key)], 1U);
    };
    if (source_.keys == nullptr)
      source_.template scan_row<kThreads>(visit);
    else
      source_.template scan_keys<kThreads, false>(visit);
    __syncthreads();
  }

  // Finds the bucket that holds the key of this rank (from 1). Ends with a barrier.
  __device__ void find_bucket(unsigned rank) {
    constexpr unsigned kEach = (Buckets::kBuckets + kThreads - 1) / kThreads;
    const unsigned first = threadIdx.x * kEach;
    unsigned mine = 0;
    for (unsigned b = first; b < first + kEach && b < Buckets::kBuckets; ++b) mine += scratch_.counts[b];
    unsigned total = 0;
    const unsigned before = block_exclusive_sum<kThreads>(mine, scratch_.warp_sums, total);
    if (before < rank && rank <= before + mine) {
      unsigned left = rank - before;
      unsigned b = first;
      for (; left > scratch_.counts[b]; ++b) left -= scratch_.counts[b];
      scratch_.found = {b, scratch_.counts[b], left};
    }
    __syncthreads();
  }

  // Writes the set to `to`, which may be its current array, and the keys below it to `out` unless that is null.
  // Positions come from a vote of each warp, so that its writes coalesce. Ends with a barrier.
  __device__ void move(const Cut<Key>& cut, Key* to, Key* out) {
    if (threadIdx.x == 0) scratch_.moved = 0;
    __syncthreads();
    const auto visit = [&](const Key& key) {
      const bool before_end = key < cut.end;
      if (!__any_sync(kFullMask, before_end)) return;
      const bool below = key < cut.low;
      if (out != nullptr) {
        const unsigned position = warp_append(below, &scratch_.written);
        if (below) out[position] = key;
      }
      const unsigned position = warp_append(before_end && !below, &scratch_.moved);
      if (before_end && !below) to[position] = key;
    };
    if (source_.keys == nullptr)
      source_.template scan_row<kThreads>(visit);
    else
      source_.template scan_keys<kThreads, true>(visit);
    __syncthreads();
  }

  // Sorts the `count` keys in scratch and calls use(rank, key) for each and for the padding after them.
  template <class Use>
  __device__ void sort_set(unsigned count, Use&& use) {
    if (count <= kThreads)
      sort_items<1>(count, use);
    else
      sort_items<kItems>(count, use);
  }

  template <unsigned kEach, class Use>
  __device__ void sort_items(unsigned count, Use&& use) {
    Key items[kEach];
    KITH_UNROLL
    for (unsigned i = 0; i < kEach; ++i) {
      const unsigned at = i * kThreads + threadIdx.x;
      items[i] = at < count ? scratch_.keys[at] : last_key<Key>();
    }
    Bitonic<Key, kThreads, kEach>::sort(items, scratch_.keys);
    KITH_UNROLL
    for (unsigned i = 0; i < kEach; ++i) use(threadIdx.x * kEach + i, items[i]);
  }

  RowKeySource<T> source_;
  Key* aux_;
  unsigned aux_size_;
  Scratch& scratch_;
};

}  // namespace kith::KITH_BACKEND::select
