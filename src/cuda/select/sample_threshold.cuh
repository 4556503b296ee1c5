// sample_threshold.cuh: a key that a little more than k keys of a row are below, from a sample of the row.
// The row is cut into equal stretches and one 32-byte sector is read at a random place of each, half a sector by a
// thread: spread over the row whatever its order, and read without waste. Keys are unique, so equal values do no harm.
// Each thread keeps only its few smallest keys; a sample that is dropped can only raise the threshold.
// Cost: 4·S bytes in sectors, a sort of kThreads · kKept keys a block.
#pragma once

#include "cuda/runtime/shared.cuh"
#include "cuda/select/bitonic.cuh"
#include "cuda/select/row_vectors.cuh"
#include "cuda/select/rows.cuh"
#include "cuda/select/threshold_plan.hpp"

namespace kith::KITH_BACKEND {

// Where the stages of a row leave word to each other. `filtered` and `histogram` start at zero.
template <class K>
struct ThresholdState {
  K* thresholds;        // a row; its candidates are the keys below
  K* splitters;         // buckets − 1 a row, ascending
  K* partial;           // kept samples of each part of a row
  unsigned* arrived;    // parts of a row that are done
  unsigned* filtered;   // candidates found of a row, also those that found no room
  unsigned* histogram;  // of the buckets of a row
  unsigned* cursors;    // how far each bucket is filled
  K* candidates;        // room a row
};

__device__ __forceinline__ unsigned scramble(unsigned x) {
  x ^= x >> 16U;
  x *= 0x7FEB352DU;
  x ^= x >> 15U;
  x *= 0x846CA68BU;
  return x ^ (x >> 16U);
}

// First column of the sector that is read of this stretch: a whole sector, inside the row and the stretch.
template <class T>
__device__ __forceinline__ unsigned sampled_column(const T* row, unsigned stretch, std::uint64_t step, unsigned seed) {
  constexpr unsigned kSector = 32 / sizeof(T);
  const auto begin = static_cast<unsigned>(stretch * step >> 16U);
  const auto end = static_cast<unsigned>((stretch + std::uint64_t{1}) * step >> 16U);
  const unsigned skip = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(row) / sizeof(T));
  const unsigned first = begin + (0U - begin - skip) % kSector;
  const unsigned sectors = (end - first) / kSector;
  return first + __umulhi(scramble(stretch * 0x9E3779B9U + seed), sectors) * kSector;
}

// Keeps the kKept smallest keys seen, ascending.
template <class K, unsigned kKept>
__device__ __forceinline__ void keep(K (&kept)[kKept], K key) {
  if (!(key < kept[kKept - 1])) return;
  KITH_UNROLL
  for (unsigned i = 0; i < kKept; ++i) order_pair(kept[i], key);
}

// The threshold for a sampled key: itself where its value occurs again and its id has to tell what is below it; else
// the least key of its value, so that values alone tell, which is cheaper.
template <class K>
__device__ K threshold_at(const K& key, const K& before, const K& after) {
  const auto order = order_of(key);
  return order == order_of(before) || order == order_of(after) ? key : make_key(order, 0U);
}

template <class K>
__device__ void choose_threshold(const K* sorted, std::int64_t row, const ThresholdPlan& plan,
                                 const ThresholdState<K>& state) {
  const unsigned used = plan.rank > 0 ? plan.rank : plan.samples;
  if (threadIdx.x == 0) {
    const unsigned at = plan.rank - 1;
    state.thresholds[row] = plan.rank > 1 ? threshold_at(sorted[at], sorted[at - 1], sorted[at + 1]) : last_key<K>();
  }
  for (unsigned b = threadIdx.x; b + 1 < plan.buckets; b += blockDim.x) {
    const auto at = static_cast<unsigned>((static_cast<std::uint64_t>(b) + 1) * used / plan.buckets);
    state.splitters[row * (plan.buckets - 1) + b] = sorted[at];
  }
}

// Sorts kThreads · kKept keys, a block's, and leaves them in shared memory.
template <class K, unsigned kThreads, unsigned kKept>
__device__ void sort_to_shared(K (&items)[kKept], K* shared) {
  Bitonic<K, kThreads, kKept>::sort(items, shared);
  __syncthreads();
  KITH_UNROLL
  for (unsigned i = 0; i < kKept; ++i) shared[threadIdx.x * kKept + i] = items[i];
  __syncthreads();
}

// The n-th half sector that part `part` takes of a row: its first column.
template <class T>
__device__ __forceinline__ unsigned sampled_half(const Rows<T>& rows, std::int64_t row, unsigned part,
                                                 const ThresholdPlan& plan, unsigned n) {
  const unsigned stretch = n / 2 * plan.parts + part;
  return sampled_column(rows.row(row), stretch, plan.stretch, static_cast<unsigned>(row)) +
         n % 2 * RowVectors<T>::kWidth;
}

// The kKept smallest samples of each of kGroup threads, ascending. Loads are started kAhead at a time.
template <class T, unsigned kGroup, unsigned kKept>
__device__ void keep_samples(const Rows<T>& rows, std::int64_t row, unsigned part, const ThresholdPlan& plan,
                             KeyOf<T> (&kept)[kKept]) {
  using K = KeyOf<T>;
  constexpr unsigned kWidth = RowVectors<T>::kWidth;
  constexpr unsigned kAhead = 4;
  const RowVectors<T> vectors(rows.row(row), rows.length);
  const unsigned halves = plan.samples / plan.parts / kWidth;
  KITH_UNROLL
  for (unsigned i = 0; i < kKept; ++i) kept[i] = last_key<K>();
  for (unsigned first = threadIdx.x % kGroup; first < halves; first += kAhead * kGroup) {
    T values[kAhead][kWidth];
    unsigned columns[kAhead];
    KITH_UNROLL
    for (unsigned i = 0; i < kAhead; ++i) {
      const unsigned n = min(first + i * kGroup, halves - 1);
      columns[i] = sampled_half(rows, row, part, plan, n);
      vectors.load((columns[i] + vectors.skip) / kWidth, values[i], T{});
    }
    KITH_UNROLL
    for (unsigned i = 0; i < kAhead; ++i) {
      if (first + i * kGroup >= halves) break;
      KITH_UNROLL
      for (unsigned j = 0; j < kWidth; ++j)
        if (ordered_bits(values[i][j], rows.largest) <= order_of(kept[kKept - 1]))
          keep(kept, rows.key(row, columns[i] + j, values[i][j]));
    }
  }
}

// All samples of a row, kItems of each thread in any order, padded.
template <class T, unsigned kThreads, unsigned kItems>
__device__ void take_samples(const Rows<T>& rows, std::int64_t row, const ThresholdPlan& plan,
                             KeyOf<T> (&items)[kItems]) {
  constexpr unsigned kWidth = RowVectors<T>::kWidth;
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) {
    const unsigned n = i / kWidth * kThreads + threadIdx.x;
    items[i] = n < plan.samples / kWidth ? rows.key(row, sampled_half(rows, row, 0, plan, n) + i % kWidth)
                                         : last_key<KeyOf<T>>();
  }
}

// The samples of part `part` of a row, all of them or each thread's kKept smallest, as a sorted array in `shared`.
template <class T, unsigned kThreads, unsigned kKept, bool kAll>
__device__ void sort_samples(const Rows<T>& rows, std::int64_t row, unsigned part, const ThresholdPlan& plan,
                             KeyOf<T>* shared) {
  using K = KeyOf<T>;
  K kept[kKept];
  if constexpr (kAll) {
    take_samples<T, kThreads>(rows, row, plan, kept);
  } else {
    keep_samples<T, kThreads>(rows, row, part, plan, kept);
  }
  sort_to_shared<K, kThreads>(kept, shared);
}

struct WarpSampleShape {
  static constexpr unsigned kWarps = 8;  // rows a block
};

// Warp a row, for many short rows: no barrier, and what is kept of the sample is sorted in registers.
template <class T, unsigned kKept>
__global__ void __launch_bounds__(WarpSampleShape::kWarps* kWarp)
    warp_sample_kernel(Rows<T> rows, ThresholdPlan plan, ThresholdState<KeyOf<T>> state) {
  using K = KeyOf<T>;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * WarpSampleShape::kWarps + warp_id();
  if (row >= rows.rows) return;
  K kept[kKept];
  keep_samples<T, kWarp>(rows, row, 0, plan, kept);
  Bitonic<K, kWarp, kKept>::sort(kept, nullptr);
  const K threshold = warp_rank(kept, plan.rank);
  const K before = warp_rank(kept, plan.rank - 1);
  const K after = warp_rank(kept, plan.rank + 1);
  if (lane_id() == 0) {
    state.thresholds[row] = threshold_at(threshold, before, after);
    state.filtered[row] = 0;
  }
}

// Block (row, part) takes every plan.parts-th stretch. The last part of a row to finish merges what all have kept.
template <class T, unsigned kThreads, unsigned kKept, bool kAll>
__global__ void __launch_bounds__(kThreads)
    sample_kernel(Rows<T> rows, ThresholdPlan plan, ThresholdState<KeyOf<T>> state) {
  using K = KeyOf<T>;
  auto* shared = dynamic_shared<K>();
  KITH_SHARED(unsigned, last, 1);
  const std::int64_t row = blockIdx.x / plan.parts;
  const unsigned part = blockIdx.x % plan.parts;
  if (part == 0) {
    for (unsigned b = threadIdx.x; b < plan.buckets; b += kThreads) {
      state.histogram[row * plan.buckets + b] = 0;
      state.cursors[row * plan.buckets + b] = 0;
    }
    if (threadIdx.x == 0) state.filtered[row] = 0;
  }
  sort_samples<T, kThreads, kKept, kAll>(rows, row, part, plan, shared);
  if (plan.parts > 1) {
    const unsigned each = kThreads * kKept / plan.parts;
    K* partial = state.partial + row * kThreads * kKept;
    for (unsigned i = threadIdx.x; i < each; i += kThreads) partial[part * each + i] = shared[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last[0] = atomicAdd(&state.arrived[row], 1U) + 1 == plan.parts ? 1 : 0;
    __syncthreads();
    if (last[0] == 0) return;
    __threadfence();
    K kept[kKept];
    KITH_UNROLL
    for (unsigned i = 0; i < kKept; ++i) kept[i] = partial[i * kThreads + threadIdx.x];
    sort_to_shared<K, kThreads>(kept, shared);
  }
  choose_threshold(shared, row, plan, state);
}

}  // namespace kith::KITH_BACKEND
