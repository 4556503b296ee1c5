// filter_whole_row.cuh: one block samples, filters and finishes a row, for many rows of moderate length.
// The sampled sectors are still in the cache when the row is filtered, so the row is read from memory once; candidates
// stay in shared memory, and there is one launch instead of three. Where neighboring values are correlated, a sample of
// sectors may let too many keys pass: the row is then sampled again, at more positions, and filtered again.
#pragma once

#include "cuda/select/filter_rows.cuh"
#include "cuda/select/finish_candidates.cuh"

namespace kith::KITH_BACKEND::select {

// Keys that a thread keeps of the second sample: as many as a 16-byte load has, which may be correlated.
constexpr unsigned kKeptOfSecond = 4;

// Keys of dynamic shared memory: the kept samples and later the candidates use the same array.
__host__ __device__ constexpr unsigned whole_row_capacity(unsigned capacity, unsigned k) {
  constexpr unsigned kSampled = FilterShape::kThreads * kKeptOfSecond;
  return finish_capacity(capacity > kSampled ? capacity : kSampled, k);
}

// Stores the keys of the row below the threshold in `keys`, at most `capacity`, and returns their number, which may be
// larger. Contains barriers.
template <class T>
__device__ unsigned collect_row(const Rows<T>& rows, std::int64_t row, const KeyOf<T>& below, unsigned capacity,
                                unsigned* staged, KeyOf<T>* keys) {
  const Threshold<T> threshold(below, rows.largest);
  const RowVectors<T> vectors(rows.row(row), rows.length);
  Batch<T> next;
  next.load(vectors, 0, vectors.count());
  filter_vectors(
      rows, row, vectors, 0, vectors.count(), next, threshold, staged,
      [&](unsigned position, const KeyOf<T>& key) {
        if (position < capacity) keys[position] = key;
      },
      [](unsigned) {});
  __syncthreads();
  return staged[0];
}

template <class T, unsigned kKept>
__global__ void __launch_bounds__(FilterShape::kThreads)
    filter_whole_row_kernel(Rows<T> rows, ThresholdPlan plan, Output<T> output) {
  using K = KeyOf<T>;
  constexpr unsigned kThreads = FilterShape::kThreads;
  KITH_SHARED(unsigned, staged, 2);
  auto* chosen = dynamic_shared<K>();
  K* keys = chosen + finished_keys(output.k);
  const std::int64_t row = blockIdx.x;
  if (threadIdx.x < 2) staged[threadIdx.x] = 0;
  const K threshold = sampled_threshold<T, kThreads, true, kKept>(rows, row, plan, keys);
  unsigned count = collect_row(rows, row, threshold, plan.staged, staged, keys);
  const auto failed = [&] { return count < output.k || count > plan.staged; };
  if (failed() && plan.second_rank > 0) {
    plan.sample_interval = plan.sample_interval * RowVectors<T>::kWidth / plan.samples_per_load;
    plan.samples_per_load = RowVectors<T>::kWidth;
    plan.rank = plan.second_rank;
    const K other = sampled_threshold<T, kThreads, false, kKeptOfSecond>(rows, row, plan, keys);
    count = collect_row(rows, row, other, plan.staged, staged + 1, keys);
  }
  if (failed()) {
    const auto from_matrix = [&](unsigned i) { return rows.key(row, i); };
    block_finish<T, kThreads>(from_matrix, rows.length, row, 0, output.k, output, chosen, keys);
    return;
  }
  const auto from_shared = [&](unsigned i) { return keys[i]; };
  block_finish<T, kThreads>(from_shared, count, row, 0, output.k, output, chosen, keys);
}

}  // namespace kith::KITH_BACKEND::select
