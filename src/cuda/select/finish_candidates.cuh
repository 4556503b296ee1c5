// finish_candidates.cuh: from a row's candidates to its k first keys, in order, for k up to kLargestSmallK.
// By a block: the candidates come to shared memory, a radix search finds the bound of the k smallest, and only those
// are sorted. By a warp, for small k and many rows: groups of candidates that hold something below the k-th so far are
// sorted and merged with the list, all in registers and without a barrier.
// A short row is all candidates. A row whose candidates are too few or did not find room is searched whole.
#pragma once

#include "cuda/select/append.cuh"
#include "cuda/select/kth_key.cuh"
#include "cuda/select/sample_threshold.cuh"

namespace kith::KITH_BACKEND {

template <class K>
struct CandidateList {
  const K* keys;  // where the row is not searched whole
  unsigned count;
  bool whole_row;

  __device__ CandidateList(const ThresholdPlan& plan, const ThresholdState<K>& state, std::int64_t row, unsigned length,
                           unsigned k)
      : keys(nullptr), count(length), whole_row(true) {
    if (plan.samples == 0) return;
    const unsigned found = state.filtered[row];
    if (found < k || found > plan.room) return;
    keys = state.candidates + row * plan.room;
    count = found;
    whole_row = false;
  }
};

// Keys that a block of kThreads sorts for k.
template <unsigned kThreads>
__host__ __device__ constexpr unsigned finished_keys(unsigned k) {
  constexpr unsigned kMiddle = kThreads == 256 ? 512 : 1024;
  return k <= 32 ? 32 : k <= 128 ? 128 : k <= kMiddle ? kMiddle : kLargestSmallK;
}

// Sorts and writes the keys in shared memory: `keys` of a row's k, padded to kSorters · kItems.
template <class T, unsigned kSorters, unsigned kItems>
__device__ void sort_and_put(KeyOf<T>* keys, KeyOf<T>* scratch, std::int64_t row, const Output<T>& output) {
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
  for (unsigned i = threadIdx.x; i < output.k; i += kSorters) output.put(row, i, scratch[i]);
}

// Block a row. Dynamic shared memory: room keys, finished_keys(k) chosen ones, and as many to sort with.
template <class T, unsigned kThreads>
__global__ void __launch_bounds__(kThreads)
    block_finish_kernel(Rows<T> rows, ThresholdPlan plan, ThresholdState<KeyOf<T>> state, Output<T> output) {
  using K = KeyOf<T>;
  using Scratch = KthScratch<K, kThreads>;
  KITH_SHARED(Scratch, kth_scratch, 1);
  KITH_SHARED(unsigned, chosen_count, 1);
  auto* keys = dynamic_shared<K>();
  const unsigned sorted = finished_keys<kThreads>(output.k);
  K* chosen = keys + plan.room;
  K* scratch = chosen + sorted;
  const std::int64_t row = blockIdx.x;
  const CandidateList<K> list(plan, state, row, rows.length, output.k);
  const bool in_shared = list.count <= plan.room;

  const auto from_matrix = [&](unsigned i) { return rows.key(row, i); };
  const auto from_shared = [&](unsigned i) { return keys[i]; };
  const auto gather = [&](const auto& source, const K& bound) {
    for (unsigned first = 0; first < list.count; first += kThreads) {
      const unsigned i = first + threadIdx.x;
      const K key = i < list.count ? source(i) : last_key<K>();
      const bool wanted = i < list.count && key <= bound;
      const unsigned at = warp_append(wanted, chosen_count);
      if (wanted) chosen[at] = key;
    }
  };

  if (threadIdx.x == 0) chosen_count[0] = 0;
  for (unsigned i = output.k + threadIdx.x; i < sorted; i += kThreads) chosen[i] = last_key<K>();
  if (in_shared) {
    for (unsigned i = threadIdx.x; i < list.count; i += kThreads)
      keys[i] = list.whole_row ? rows.key(row, i) : list.keys[i];
    __syncthreads();
    gather(from_shared, kth_key_bound<kThreads, K>(from_shared, list.count, output.k, kth_scratch[0]));
  } else {
    __syncthreads();
    gather(from_matrix, kth_key_bound<kThreads, K>(from_matrix, list.count, output.k, kth_scratch[0]));
  }
  __syncthreads();
  if (output.form == TopkOutput::unsorted) {
    for (unsigned i = threadIdx.x; i < output.k; i += kThreads) output.put(row, i, chosen[i]);
  } else if (sorted == 32) {
    sort_and_put<T, 32, 1>(chosen, scratch, row, output);
  } else if (sorted == 128) {
    sort_and_put<T, 32, 4>(chosen, scratch, row, output);
  } else if (sorted == kLargestSmallK) {
    sort_and_put<T, kThreads, kLargestSmallK / kThreads>(chosen, scratch, row, output);
  } else {
    sort_and_put<T, kThreads, finished_keys<kThreads>(129) / kThreads>(chosen, scratch, row, output);
  }
}

struct WarpFinishShape {
  static constexpr unsigned kWarps = 8;  // rows a block
  static constexpr unsigned kAhead = 4;  // keys a lane has in flight
};

// Warp a row, k ≤ 32 · kItems.
template <class T, unsigned kItems>
__global__ void __launch_bounds__(WarpFinishShape::kWarps* kWarp)
    warp_finish_kernel(Rows<T> rows, ThresholdPlan plan, ThresholdState<KeyOf<T>> state, Output<T> output) {
  using K = KeyOf<T>;
  using Network = Bitonic<K, kWarp, kItems>;
  constexpr unsigned kGroups = WarpFinishShape::kAhead > kItems ? WarpFinishShape::kAhead / kItems : 1;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * WarpFinishShape::kWarps + warp_id();
  if (row >= rows.rows) return;
  const CandidateList<K> list(plan, state, row, rows.length, output.k);
  K best[kItems];
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) best[i] = last_key<K>();
  K kth = last_key<K>();
  for (unsigned first = 0; first < list.count; first += kGroups * Network::kSize) {
    K group[kGroups][kItems];
    KITH_UNROLL
    for (unsigned g = 0; g < kGroups; ++g) {
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i) {
        const unsigned at = first + (g * kItems + i) * kWarp + lane_id();
        group[g][i] = at >= list.count ? last_key<K>() : list.whole_row ? rows.key(row, at) : list.keys[at];
      }
    }
    KITH_UNROLL
    for (unsigned g = 0; g < kGroups; ++g) {
      bool any = false;
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i) any = any || group[g][i] < kth;
      if (!__any_sync(kFullMask, any)) continue;
      Network::sort(group[g], nullptr);
      Network::keep_smallest(best, group[g], nullptr);
      kth = warp_rank(best, output.k);
    }
  }
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) {
    const unsigned rank = lane_id() * kItems + i;
    if (rank < output.k) output.put(row, rank, best[i]);
  }
}

}  // namespace kith::KITH_BACKEND
