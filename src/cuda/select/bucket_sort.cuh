// bucket_sort.cuh: sorts a row's candidates in buckets, for large k.
// The sample that gave the threshold also gives splitters, and the filter has counted the candidates between them. The
// candidates are distributed to their buckets, and each bucket, small enough for a block's registers, is sorted and
// written to its position. Buckets that begin past k are never touched. A bucket that is too large is merge-sorted in
// global memory, and a row whose threshold failed is searched whole.
// Cost: candidates read twice and written once, k keys written.
#pragma once

#include "cuda/primitives/block_merge_sort.cuh"
#include "cuda/primitives/kth_key.cuh"
#include "cuda/select/filter_rows.cuh"

namespace kith::KITH_BACKEND::select {

struct BucketShape {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kItems = 8;    // a bucket is sorted in registers up to kThreads · kItems keys
  static constexpr unsigned kTile = 4096;  // candidates that one block distributes
};

// Whether the row has at least k candidates and all of them were stored.
template <class K>
__device__ bool threshold_held(const ThresholdPlan& plan, const ThresholdState<K>& state, std::int64_t row,
                               unsigned k) {
  return state.filtered[row] >= k && state.filtered[row] <= plan.capacity;
}

// Writes the exclusive sums of a row's histogram to `offsets`, in shared memory. Ends with a barrier.
template <unsigned kThreads>
__device__ void bucket_offsets(const unsigned* histogram, unsigned buckets, unsigned* offsets, unsigned* sums) {
  unsigned before = 0;
  for (unsigned first = 0; first < buckets; first += kThreads) {
    const unsigned b = first + threadIdx.x;
    unsigned total = 0;
    const unsigned offset = block_exclusive_sum<kThreads>(b < buckets ? histogram[b] : 0, sums, total);
    if (b < buckets) offsets[b] = before + offset;
    before += total;
  }
  __syncthreads();
}

// Copies candidates to their buckets; one block per (row, tile). Dynamic shared memory: a key and three words per
// bucket.
template <class K>
__global__ void __launch_bounds__(BucketShape::kThreads)
    distribute_kernel(ThresholdPlan plan, ThresholdState<K> state, K* bucketed, unsigned k) {
  constexpr unsigned kThreads = BucketShape::kThreads;
  constexpr unsigned kItems = BucketShape::kTile / kThreads;
  KITH_SHARED(unsigned, sums, kThreads / kWarp + 1);
  auto* splitters = dynamic_shared<K>();
  auto* offsets = reinterpret_cast<unsigned*>(splitters + plan.buckets);
  unsigned* counts = offsets + plan.buckets;
  unsigned* starts = counts + plan.buckets;

  const auto tiles = static_cast<unsigned>(ceil_div(plan.capacity, BucketShape::kTile));
  const std::int64_t row = blockIdx.x / tiles;
  const unsigned first = blockIdx.x % tiles * BucketShape::kTile;
  if (!threshold_held(plan, state, row, k) || first >= state.filtered[row]) return;
  const unsigned count = min(BucketShape::kTile, state.filtered[row] - first);
  for (unsigned b = threadIdx.x; b < plan.buckets; b += kThreads) {
    if (b + 1 < plan.buckets) splitters[b] = state.splitters[row * (plan.buckets - 1) + b];
    counts[b] = 0;
  }
  bucket_offsets<kThreads>(state.histogram + row * plan.buckets, plan.buckets, offsets, sums);

  K keys[kItems];
  unsigned bucket[kItems];
  unsigned rank[kItems];
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) {
    const unsigned at = i * kThreads + threadIdx.x;
    keys[i] = at < count ? state.candidates[row * plan.capacity + first + at] : last_key<K>();
  }
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) {
    bucket[i] = plan.buckets;
    if (i * kThreads + threadIdx.x >= count) continue;
    const unsigned b = bucket_of(keys[i], splitters, plan.buckets);
    if (offsets[b] >= k) continue;
    bucket[i] = b;
    rank[i] = atomicAdd(&counts[b], 1U);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < plan.buckets; b += kThreads)
    starts[b] = counts[b] > 0 ? offsets[b] + atomicAdd(&state.cursors[row * plan.buckets + b], counts[b]) : 0;
  __syncthreads();
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i)
    if (bucket[i] < plan.buckets) bucketed[row * plan.capacity + starts[bucket[i]] + rank[i]] = keys[i];
}

template <class T, unsigned kItems>
__device__ void sort_bucket(const KeyOf<T>* keys, unsigned size, KeyOf<T>* shared, std::int64_t row, unsigned offset,
                            const Output<T>& output) {
  using K = KeyOf<T>;
  constexpr unsigned kThreads = BucketShape::kThreads;
  K items[kItems];
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) {
    const unsigned at = i * kThreads + threadIdx.x;
    items[i] = at < size ? keys[at] : last_key<K>();
  }
  Bitonic<K, kThreads, kItems>::sort(items, shared);
  __syncthreads();
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) shared[threadIdx.x * kItems + i] = items[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < size && offset + i < output.k; i += kThreads)
    output.put(row, offset + i, shared[i]);
}

// Sorts each bucket and writes its keys; one block per (row, bucket).
template <class T>
__global__ void __launch_bounds__(BucketShape::kThreads)
    sort_buckets_kernel(ThresholdPlan plan, ThresholdState<KeyOf<T>> state, KeyOf<T>* bucketed, Output<T> output) {
  using K = KeyOf<T>;
  constexpr unsigned kThreads = BucketShape::kThreads;
  constexpr unsigned kItems = BucketShape::kItems;
  KITH_SHARED(K, shared, kThreads * kItems);
  KITH_SHARED(unsigned, before, 1);
  const std::int64_t row = blockIdx.x / plan.buckets;
  const unsigned bucket = blockIdx.x % plan.buckets;
  if (!threshold_held(plan, state, row, output.k)) return;
  const unsigned* histogram = state.histogram + row * plan.buckets;
  if (threadIdx.x == 0) before[0] = 0;
  __syncthreads();
  unsigned sum = 0;
  for (unsigned b = threadIdx.x; b < bucket; b += kThreads) sum += histogram[b];
  sum = __reduce_add_sync(kFullMask, sum);
  if (lane_id() == 0) atomicAdd(before, sum);
  __syncthreads();
  const unsigned offset = before[0];
  const unsigned size = histogram[bucket];
  if (offset >= output.k || size == 0) return;
  K* keys = bucketed + row * plan.capacity + offset;
  if (size <= kThreads * kItems / 2) {
    sort_bucket<T, kItems / 2>(keys, size, shared, row, offset, output);
  } else if (size <= kThreads * kItems) {
    sort_bucket<T, kItems>(keys, size, shared, row, offset, output);
  } else {
    // The candidate list has been read and serves as the second buffer.
    K* spare = state.candidates + row * plan.capacity + offset;
    const K* sorted = block_merge_sort<K, kThreads, kItems>(keys, spare, size, shared);
    for (unsigned i = threadIdx.x; i < size && offset + i < output.k; i += kThreads)
      output.put(row, offset + i, sorted[i]);
  }
}

// Searches the rows whose threshold failed; one block per row.
template <class T>
__global__ void __launch_bounds__(BucketShape::kThreads)
    search_whole_kernel(Rows<T> rows, ThresholdPlan plan, ThresholdState<KeyOf<T>> state, KeyOf<T>* bucketed,
                        Output<T> output) {
  using K = KeyOf<T>;
  constexpr unsigned kThreads = BucketShape::kThreads;
  constexpr unsigned kItems = BucketShape::kItems;
  using Scratch = KthScratch<K, kThreads>;
  KITH_SHARED(Scratch, scratch, 1);
  KITH_SHARED(K, shared, kThreads * kItems);
  KITH_SHARED(unsigned, found, 1);
  const std::int64_t row = blockIdx.x;
  if (threshold_held(plan, state, row, output.k)) return;
  if (threadIdx.x == 0) found[0] = 0;
  const auto source = [&](unsigned i) { return rows.key(row, i); };
  const K bound = kth_key_bound<kThreads, K>(source, rows.length, output.k, scratch[0]);
  K* keys = bucketed + row * plan.capacity;
  for (unsigned first = 0; first < rows.length; first += kThreads) {
    const unsigned i = first + threadIdx.x;
    const K key = i < rows.length ? source(i) : last_key<K>();
    const bool wanted = i < rows.length && key <= bound;
    const unsigned at = warp_append(wanted, found);
    if (wanted) keys[at] = key;
  }
  __syncthreads();
  const K* sorted =
      block_merge_sort<K, kThreads, kItems>(keys, state.candidates + row * plan.capacity, output.k, shared);
  for (unsigned i = threadIdx.x; i < output.k; i += kThreads) output.put(row, i, sorted[i]);
}

}  // namespace kith::KITH_BACKEND::select
