// finish_candidates.cuh: selects and sorts a row's k smallest keys among its candidates, for k up to kLargestSmallK.
//   by a block       candidates are loaded to shared memory, radix selection finds the k-th key, and k keys are sorted
//   by a warp        for small k and many rows: groups of candidates with a key below the k-th so far are sorted and
//                    merged with the list, in registers and without a barrier
//   by many blocks   for one or two rows: the rank of each candidate is counted
// All keys of a short row are candidates. A row with too few or too many candidates is searched whole.
#pragma once

#include "cuda/primitives/append.cuh"
#include "cuda/primitives/kth_key.cuh"
#include "cuda/primitives/warp_smallest.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/select/sample_threshold.cuh"

namespace kith::KITH_BACKEND::select {

template <class K>
struct CandidateList {
  const K* keys;  // null if the row is searched whole
  unsigned count;
  bool whole_row;

  __device__ CandidateList(const ThresholdPlan& plan, const ThresholdState<K>& state, std::int64_t row, unsigned length,
                           unsigned k)
      : keys(nullptr), count(length), whole_row(true) {
    if (plan.samples == 0) return;
    const unsigned found = state.filtered[row];
    if (found < k || found > plan.capacity) return;
    keys = state.candidates + row * plan.capacity;
    count = found;
    whole_row = false;
  }
};

// The number of keys that a block sorts to finish `wanted` keys: the size of the next network.
__host__ __device__ constexpr unsigned finished_keys(unsigned wanted) {
  return wanted <= 32 ? 32 : wanted <= 128 ? 128 : wanted <= 512 ? 512 : kLargestSmallK;
}

// Sorts and writes the keys of ranks [first, last), which are in shared memory, padded to kSorters · kItems keys.
template <class T, unsigned kSorters, unsigned kItems>
__device__ void sort_and_put(KeyOf<T>* keys, KeyOf<T>* scratch, std::int64_t row, unsigned first, unsigned last,
                             const Output<T>& output) {
  using K = KeyOf<T>;
  if constexpr (kSorters <= kWarp) {
    if (threadIdx.x >= kSorters) return;
  }
  K items[kItems];
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) items[i] = keys[i * kSorters + threadIdx.x];
  Bitonic<K, kSorters, kItems>::sort(items, scratch);
  if constexpr (kSorters > kWarp) __syncthreads();
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) scratch[threadIdx.x * kItems + i] = items[i];
  if constexpr (kSorters > kWarp) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  for (unsigned i = threadIdx.x; first + i < last; i += kSorters) output.put(row, first + i, scratch[i]);
}

// Writes ranks [first, last) of source(0 … count − 1), by a block. `chosen` and `scratch` hold finished_keys(last −
// first) keys each; `scratch` may be the array that the source reads.
template <class T, unsigned kThreads, class Source>
__device__ void block_finish(const Source& source, unsigned count, std::int64_t row, unsigned first, unsigned last,
                             const Output<T>& output, KeyOf<T>* chosen, KeyOf<T>* scratch) {
  using K = KeyOf<T>;
  using Scratch = KthScratch<K, kThreads>;
  KITH_SHARED(Scratch, kth_scratch, 1);
  KITH_SHARED(unsigned, chosen_count, 1);
  const unsigned wanted = last - first;
  const unsigned sorted = finished_keys(wanted);
  if (threadIdx.x == 0) chosen_count[0] = 0;
  for (unsigned i = wanted + threadIdx.x; i < sorted; i += kThreads) chosen[i] = last_key<K>();
  const KeyRange<K> range = key_range<kThreads, K>(source, count, kth_scratch[0]);
  const K bound = kth_key_bound<kThreads, K>(source, count, last, range, kth_scratch[0]);
  const K begin = first > 0 ? next_key(kth_key_bound<kThreads, K>(source, count, first, range, kth_scratch[0])) : K{};
  for (unsigned at = 0; at < count; at += kThreads) {
    const unsigned i = at + threadIdx.x;
    const K key = i < count ? source(i) : last_key<K>();
    const bool in_range = i < count && key >= begin && key <= bound;
    const unsigned position = warp_append(in_range, chosen_count);
    if (in_range) chosen[position] = key;
  }
  __syncthreads();
  if (output.form == TopkOutput::unsorted) {
    for (unsigned i = threadIdx.x; i < wanted; i += kThreads) output.put(row, first + i, chosen[i]);
  } else if (sorted == 32) {
    sort_and_put<T, 32, 1>(chosen, scratch, row, first, last, output);
  } else if (sorted == 128) {
    sort_and_put<T, 32, 4>(chosen, scratch, row, first, last, output);
  } else if (sorted == 512) {
    sort_and_put<T, kThreads, 512 / kThreads>(chosen, scratch, row, first, last, output);
  } else {
    sort_and_put<T, kThreads, kLargestSmallK / kThreads>(chosen, scratch, row, first, last, output);
  }
}

// Keys of dynamic shared memory that block_finish needs with `capacity` candidates.
__host__ __device__ constexpr unsigned finish_capacity(unsigned capacity, unsigned wanted) {
  const unsigned sorted = finished_keys(wanted);
  return (capacity > sorted ? capacity : sorted) + sorted;
}

// One block per (row, slice of its ranks). Dynamic shared memory: finish_capacity keys.
template <class T, unsigned kThreads>
__global__ void __launch_bounds__(kThreads) block_finish_kernel(Rows<T> rows, ThresholdPlan plan, unsigned slice,
                                                                ThresholdState<KeyOf<T>> state, Output<T> output) {
  using K = KeyOf<T>;
  const unsigned slices = (output.k + slice - 1) / slice;
  const std::int64_t row = blockIdx.x / slices;
  const unsigned first = blockIdx.x % slices * slice;
  const unsigned last = min(first + slice, output.k);
  auto* chosen = dynamic_shared<K>();
  K* keys = chosen + finished_keys(slice);
  wait_for_previous_kernel();
  const CandidateList<K> list(plan, state, row, rows.length, output.k);
  if (list.count > plan.staged) {
    const auto from_global = [&](unsigned i) { return list.whole_row ? rows.key(row, i) : list.keys[i]; };
    block_finish<T, kThreads>(from_global, list.count, row, first, last, output, chosen, keys);
    return;
  }
  for (unsigned i = threadIdx.x; i < list.count; i += kThreads)
    keys[i] = list.whole_row ? rows.key(row, i) : list.keys[i];
  __syncthreads();
  const auto from_shared = [&](unsigned i) { return keys[i]; };
  block_finish<T, kThreads>(from_shared, list.count, row, first, last, output, chosen, keys);
}

template <class T, unsigned kItems, class Source>
__device__ void warp_finish(const Source& source, unsigned count, std::int64_t row, const Output<T>& output) {
  KeyOf<T> best[kItems];
  warp_smallest(source, count, output.k, best);
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) {
    const unsigned rank = lane_id() * kItems + i;
    if (rank < output.k) output.put(row, rank, best[i]);
  }
}

struct WarpFinishShape {
  static constexpr unsigned kWarps = 8;  // and rows per block
};

// One warp per row, for k ≤ 32 · kItems.
template <class T, unsigned kItems>
__global__ void __launch_bounds__(WarpFinishShape::kWarps* kWarp)
    warp_finish_kernel(Rows<T> rows, ThresholdPlan plan, ThresholdState<KeyOf<T>> state, Output<T> output) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * WarpFinishShape::kWarps + warp_id();
  if (row >= rows.rows) return;
  wait_for_previous_kernel();
  const CandidateList<KeyOf<T>> list(plan, state, row, rows.length, output.k);
  const auto source = [&](unsigned i) { return list.whole_row ? rows.key(row, i) : list.keys[i]; };
  warp_finish<T, kItems>(source, list.count, row, output);
}

struct RankFinishShape {
  static constexpr unsigned kThreads = 512;
  static constexpr unsigned kWarps = kThreads / kWarp;
  static constexpr unsigned kKeys = 4;  // ranked at once by a warp, so that the candidates are read less often
};

// One block per (row, part of its candidates), for one or two rows: a key's rank is the number of smaller keys, which
// each warp counts for some of the candidates. The work is quadratic in the candidates, but uses the whole device and
// one barrier. Dynamic shared memory: the staged keys, or as much as block_finish needs if that is more.
template <class T>
__global__ void __launch_bounds__(RankFinishShape::kThreads)
    rank_finish_kernel(Rows<T> rows, ThresholdPlan plan, unsigned parts, ThresholdState<KeyOf<T>> state,
                       Output<T> output) {
  using K = KeyOf<T>;
  constexpr unsigned kThreads = RankFinishShape::kThreads;
  auto* keys = dynamic_shared<K>();
  const std::int64_t row = blockIdx.x / parts;
  const unsigned part = blockIdx.x % parts;
  wait_for_previous_kernel();
  const CandidateList<K> list(plan, state, row, rows.length, output.k);
  if (list.whole_row || list.count > plan.staged) {
    if (part == 0) {
      const auto from_global = [&](unsigned i) { return list.whole_row ? rows.key(row, i) : list.keys[i]; };
      block_finish<T, kThreads>(from_global, list.count, row, 0, output.k, output, keys,
                                keys + finished_keys(output.k));
    }
    return;
  }
  for (unsigned i = threadIdx.x; i < list.count; i += kThreads) keys[i] = list.keys[i];
  __syncthreads();
  constexpr unsigned kKeys = RankFinishShape::kKeys;
  const unsigned warp = part * RankFinishShape::kWarps + warp_id();
  for (unsigned first = warp * kKeys; first < list.count; first += parts * RankFinishShape::kWarps * kKeys) {
    K mine[kKeys];
    unsigned smaller[kKeys] = {};
    KITH_UNROLL
    for (unsigned i = 0; i < kKeys; ++i) mine[i] = keys[min(first + i, list.count - 1)];
#pragma unroll 4
    for (unsigned j = lane_id(); j < list.count; j += kWarp) {
      const K other = keys[j];
      KITH_UNROLL
      for (unsigned i = 0; i < kKeys; ++i) smaller[i] += other < mine[i] ? 1 : 0;
    }
    KITH_UNROLL
    for (unsigned i = 0; i < kKeys; ++i) {
      const unsigned rank = __reduce_add_sync(kFullMask, smaller[i]);
      if (lane_id() == i && first + i < list.count && rank < output.k) output.put(row, rank, mine[i]);
    }
  }
}

}  // namespace kith::KITH_BACKEND::select
