// sample_threshold.cuh: a threshold that a little more than k keys of a row are below, from a sample of the row.
// The row is cut into equal intervals and a few adjacent values are read at a random position of each, 16 bytes per
// thread: the sample covers the row whatever its order, and whole sectors are used. Keys are unique, so equal values do
// no harm. Each thread keeps only its few smallest keys; a dropped sample can only raise the threshold.
// Cost: reading the sample, and a radix selection over kThreads · kKept keys, or their sort if splitters are needed.
#pragma once

#include "core/threshold_plan.hpp"
#include "cuda/primitives/append.cuh"
#include "cuda/primitives/bitonic.cuh"
#include "cuda/primitives/kth_key.cuh"
#include "cuda/primitives/random.cuh"
#include "cuda/primitives/row_vectors.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/select/rows.cuh"

namespace kith::KITH_BACKEND::select {

using core::kLargestSmallK;
using core::ThresholdPlan;

// The data that the kernels of a selection exchange. `filtered` and `histogram` start at zero.
template <class K>
struct ThresholdState {
  K* thresholds;        // one per row; candidates are the keys below it
  K* splitters;         // buckets − 1 per row, ascending
  K* partial;           // smallest samples of each part of a row
  unsigned* arrived;    // parts of a row that are done
  unsigned* filtered;   // candidates found in a row, including those beyond the capacity
  unsigned* histogram;  // candidates per bucket of a row
  unsigned* cursors;    // candidates written to each bucket
  K* candidates;        // capacity per row
};

// Stores a row's threshold. A row whose sample gave none is marked as one with too many candidates.
template <class K>
__device__ void set_threshold(const ThresholdState<K>& state, std::int64_t row, const K& threshold) {
  state.thresholds[row] = threshold;
  state.filtered[row] = threshold < last_key<K>() ? 0 : ~0U;
}

// The first sampled column of an interval: samples_per_load values from there on are aligned and inside the interval.
template <class T>
__device__ __forceinline__ unsigned sampled_column(const T* row, unsigned interval, std::uint64_t length,
                                                   unsigned samples_per_load, unsigned seed) {
  const auto begin = static_cast<unsigned>(interval * length >> 16U);
  const auto end = static_cast<unsigned>((interval + std::uint64_t{1}) * length >> 16U);
  const unsigned skip = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(row) / sizeof(T));
  const unsigned first = begin + ((0U - begin - skip) & (samples_per_load - 1U));
  const unsigned positions = (end - first) / samples_per_load;
  return first + __umulhi(random_bits(seed, interval), positions) * samples_per_load;
}

// Inserts a key into the kKept smallest ones so far, ascending.
template <class K, unsigned kKept>
__device__ __forceinline__ void keep(K (&kept)[kKept], K key) {
  if (!(key < kept[kKept - 1])) return;
  KITH_UNROLL
  for (unsigned i = 0; i < kKept; ++i) order_pair(kept[i], key);
}

// The first column of the n-th 16 bytes that part `part` samples of a row.
template <class T>
__device__ __forceinline__ unsigned sampled_vector(const Rows<T>& rows, std::int64_t row, unsigned part,
                                                   const ThresholdPlan& plan, unsigned n) {
  const unsigned vectors = plan.samples_per_load / RowVectors<T>::kWidth;
  const unsigned interval = n / vectors * plan.parts + part;
  return sampled_column(rows.row(row), interval, plan.sample_interval, plan.samples_per_load,
                        static_cast<unsigned>(row)) +
         n % vectors * RowVectors<T>::kWidth;
}

// The index of the smallest sign · value, the first of equal ones; any if all are NaN.
template <class T, unsigned kCount>
__device__ __forceinline__ unsigned index_of_smallest(const T (&values)[kCount], T sign) {
  unsigned index = 0;
  T smallest = sign * values[0];
  KITH_UNROLL
  for (unsigned i = 1; i < kCount; ++i) {
    const T value = sign * values[i];
    if (!(value < smallest) && smallest == smallest) continue;
    index = i;
    smallest = value;
  }
  return index;
}

// Leaves in `kept` the kKept smallest samples of each of kGroup threads, ascending; with kMinima at most one of each 16
// bytes. kAhead loads are in flight at a time; the cache may keep them, since the filter reads the row again. NaN is
// not kept: a row with that many has no threshold.
template <class T, unsigned kGroup, bool kMinima, unsigned kKept>
__device__ void keep_samples(const Rows<T>& rows, std::int64_t row, unsigned part, const ThresholdPlan& plan,
                             KeyOf<T> (&kept)[kKept]) {
  using K = KeyOf<T>;
  using Vectors = RowVectors<T>;
  constexpr unsigned kWidth = Vectors::kWidth;
  constexpr unsigned kAhead = 4;
  const T sign = rows.largest ? T{-1} : T{1};
  const T* values = rows.row(row);
  const unsigned count = plan.samples / plan.parts / kWidth;
  T largest_kept = value_of<T>(ValueTraits<T>::kInfinity | ValueTraits<T>::kSign, false);
  const auto offer = [&](unsigned column, T value) {
    if (!(sign * value <= largest_kept)) return;
    keep(kept, rows.key(row, column, value));
    if (kept[kKept - 1] < last_key<K>()) largest_kept = value_of<T>(order_of(kept[kKept - 1]), false);
  };
  KITH_UNROLL
  for (unsigned i = 0; i < kKept; ++i) kept[i] = last_key<K>();
  for (unsigned first = threadIdx.x % kGroup; first < count; first += kAhead * kGroup) {
    T ahead[kAhead][kWidth];
    unsigned columns[kAhead];
    KITH_UNROLL
    for (unsigned i = 0; i < kAhead; ++i) {
      columns[i] = sampled_vector(rows, row, part, plan, min(first + i * kGroup, count - 1));
      Vectors::unpack(*reinterpret_cast<const typename Vectors::Vector*>(values + columns[i]), ahead[i]);
    }
    KITH_UNROLL
    for (unsigned i = 0; i < kAhead; ++i) {
      if (first + i * kGroup >= count) break;
      if constexpr (kMinima) {
        const unsigned index = index_of_smallest(ahead[i], sign);
        T value = ahead[i][0];
        KITH_UNROLL
        for (unsigned j = 1; j < kWidth; ++j) value = j == index ? ahead[i][j] : value;
        offer(columns[i] + index, value);
      } else {
        KITH_UNROLL
        for (unsigned j = 0; j < kWidth; ++j) offer(columns[i] + j, ahead[i][j]);
      }
    }
  }
}

// A row's threshold by a block, from the kept samples of its threads or of the parts of the row.
template <unsigned kThreads, class K, class Source>
__device__ K threshold_of(const Source& source, unsigned count, unsigned rank) {
  using Scratch = KthScratch<K, kThreads>;
  KITH_SHARED(Scratch, scratch, 1);
  const K bound = kth_key_bound<kThreads, K>(source, count, rank, scratch[0]);
  return bound < last_key<K>() ? next_key(bound) : bound;
}

template <class T, unsigned kThreads, bool kMinima, unsigned kKept>
__device__ void keep_samples_in_shared(const Rows<T>& rows, std::int64_t row, unsigned part, const ThresholdPlan& plan,
                                       KeyOf<T>* shared) {
  KeyOf<T> kept[kKept];
  keep_samples<T, kThreads, kMinima>(rows, row, part, plan, kept);
  KITH_UNROLL
  for (unsigned i = 0; i < kKept; ++i) shared[i * kThreads + threadIdx.x] = kept[i];
  __syncthreads();
}

template <class T, unsigned kThreads, bool kMinima, unsigned kKept>
__device__ KeyOf<T> sampled_threshold(const Rows<T>& rows, std::int64_t row, const ThresholdPlan& plan,
                                      KeyOf<T>* shared) {
  using K = KeyOf<T>;
  keep_samples_in_shared<T, kThreads, kMinima, kKept>(rows, row, 0, plan, shared);
  return threshold_of<kThreads, K>([&](unsigned i) { return shared[i]; }, kThreads * kKept, plan.rank);
}

struct WarpSampleShape {
  static constexpr unsigned kWarps = 8;  // and rows per block
};

// One warp per row, for many short rows: no barrier, and the kept samples are sorted in registers.
template <class T, unsigned kKept>
__global__ void __launch_bounds__(WarpSampleShape::kWarps* kWarp)
    warp_sample_kernel(Rows<T> rows, ThresholdPlan plan, ThresholdState<KeyOf<T>> state) {
  using K = KeyOf<T>;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * WarpSampleShape::kWarps + warp_id();
  if (row >= rows.rows) return;
  trigger_dependent_launch();
  K kept[kKept];
  keep_samples<T, kWarp, true>(rows, row, 0, plan, kept);
  Bitonic<K, kWarp, kKept>::sort(kept, nullptr);
  const K threshold = warp_rank(kept, plan.rank);
  const K before = warp_rank(kept, plan.rank - 1);
  const K after = warp_rank(kept, plan.rank + 1);
  if (lane_id() != 0) return;
  // If its value occurs only once, comparing values suffices, which is cheaper.
  const auto order = order_of(threshold);
  const bool once = order != order_of(before) && order != order_of(after);
  set_threshold(state, row, threshold < last_key<K>() && once ? make_key(order, 0U) : threshold);
}

struct PartShape {
  static constexpr unsigned kHandedOn = 8;  // smallest samples that each part of a row contributes
};

// One block per (row, part), which samples every plan.parts-th interval. The last part of a row to finish finds the
// threshold from the samples of all parts.
template <class T, unsigned kThreads, unsigned kKept>
__global__ void __launch_bounds__(kThreads)
    sample_kernel(Rows<T> rows, ThresholdPlan plan, ThresholdState<KeyOf<T>> state) {
  using K = KeyOf<T>;
  using Scratch = KthScratch<K, kThreads>;
  KITH_SHARED(K, shared, kThreads * kKept);
  KITH_SHARED(Scratch, scratch, 1);
  KITH_SHARED(unsigned, flag, 1);
  const std::int64_t row = blockIdx.x / plan.parts;
  const unsigned part = blockIdx.x % plan.parts;
  trigger_dependent_launch();
  if (plan.parts == 1) {
    const K threshold = sampled_threshold<T, kThreads, true, kKept>(rows, row, plan, shared);
    if (threadIdx.x == 0) set_threshold(state, row, threshold);
    return;
  }
  if (threadIdx.x == 0) flag[0] = 0;
  keep_samples_in_shared<T, kThreads, true, kKept>(rows, row, part, plan, shared);
  const auto from_shared = [&](unsigned i) { return shared[i]; };
  const K bound = kth_key_bound<kThreads, K>(from_shared, kThreads * kKept, PartShape::kHandedOn, scratch[0]);
  K* partial = state.partial + row * plan.parts * PartShape::kHandedOn;
  for (unsigned i = threadIdx.x; i < kThreads * kKept; i += kThreads) {
    const bool wanted = shared[i] <= bound;
    const unsigned at = warp_append(wanted, flag);
    if (wanted && at < PartShape::kHandedOn) partial[part * PartShape::kHandedOn + at] = shared[i];
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) flag[0] = atomicAdd(&state.arrived[row], 1U) + 1;
  __syncthreads();
  if (flag[0] != plan.parts) return;
  __threadfence();
  const auto from_parts = [&](unsigned i) { return partial[i]; };
  const K threshold = threshold_of<kThreads, K>(from_parts, plan.parts * PartShape::kHandedOn, plan.rank);
  if (threadIdx.x == 0) set_threshold(state, row, threshold);
}

// One block per row, for large k: the whole sample (kAll) or the smallest minima are sorted, and give the threshold and
// the splitters. Dynamic shared memory: kThreads · kItems keys.
template <class T, unsigned kThreads, unsigned kItems, bool kAll>
__global__ void __launch_bounds__(kThreads)
    sample_splitters_kernel(Rows<T> rows, ThresholdPlan plan, ThresholdState<KeyOf<T>> state) {
  using K = KeyOf<T>;
  constexpr unsigned kWidth = RowVectors<T>::kWidth;
  auto* sorted = dynamic_shared<K>();
  const std::int64_t row = blockIdx.x;
  trigger_dependent_launch();
  for (unsigned b = threadIdx.x; b < plan.buckets; b += kThreads) {
    state.histogram[row * plan.buckets + b] = 0;
    state.cursors[row * plan.buckets + b] = 0;
  }
  K items[kItems];
  if constexpr (kAll) {
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) {
      const unsigned n = i / kWidth * kThreads + threadIdx.x;
      const bool there = n < plan.samples / kWidth;
      items[i] = there ? rows.key(row, sampled_vector(rows, row, 0, plan, n) + i % kWidth) : last_key<K>();
    }
  } else {
    keep_samples<T, kThreads, true>(rows, row, 0, plan, items);
  }
  Bitonic<K, kThreads, kItems>::sort(items, sorted);
  __syncthreads();
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) sorted[threadIdx.x * kItems + i] = items[i];
  __syncthreads();
  const unsigned used = plan.rank > 0 ? plan.rank : plan.counted(kWidth);
  if (threadIdx.x == 0) {
    if (plan.rank > 0) {
      set_threshold(state, row, sorted[plan.rank - 1]);
    } else {
      state.thresholds[row] = last_key<K>();
      state.filtered[row] = 0;
    }
  }
  for (unsigned b = threadIdx.x; b + 1 < plan.buckets; b += kThreads) {
    const auto at = static_cast<unsigned>((static_cast<std::uint64_t>(b) + 1) * used / plan.buckets);
    state.splitters[row * (plan.buckets - 1) + b] = sorted[at];
  }
}

}  // namespace kith::KITH_BACKEND::select
