// filter_whole_row.cuh: sample, filter and finish of one row by one block, for many rows of moderate length.
// What the sample has read of the row is still in the cache when the row is filtered, so the row comes from memory
// once; candidates never leave shared memory, and there is one kernel to start instead of three.
#pragma once

#include "cuda/select/filter_rows.cuh"
#include "cuda/select/finish_candidates.cuh"

namespace kith::KITH_BACKEND {

// Samples a thread keeps: all of 16 bytes where they may be alike and all count.
template <bool kMinima>
__host__ __device__ constexpr unsigned whole_row_kept() {
  return kMinima ? 2 : 4;
}

// Keys of dynamic shared memory: the kept samples and then the candidates share a place.
template <bool kMinima>
__host__ __device__ constexpr unsigned whole_row_room(unsigned room, unsigned k) {
  constexpr unsigned kSampled = FilterShape::kThreads * whole_row_kept<kMinima>();
  return finish_room(room > kSampled ? room : kSampled, k);
}

template <class T, bool kMinima>
__global__ void __launch_bounds__(FilterShape::kThreads)
    filter_whole_row_kernel(Rows<T> rows, ThresholdPlan plan, Output<T> output) {
  using K = KeyOf<T>;
  constexpr unsigned kThreads = FilterShape::kThreads;
  KITH_SHARED(unsigned, staged, 1);
  auto* chosen = dynamic_shared<K>();
  K* keys = chosen + finished_keys(output.k);
  const std::int64_t row = blockIdx.x;
  if (threadIdx.x == 0) staged[0] = 0;
  const Threshold<T> threshold(
      sampled_threshold<T, kThreads, kMinima, whole_row_kept<kMinima>()>(rows, row, plan, keys), rows.largest);
  const RowVectors<T> vectors(rows.row(row), rows.length);
  Batch<T> next;
  next.load(vectors, 0, vectors.count());
  filter_stretch(
      rows, row, vectors, 0, vectors.count(), next, threshold, staged,
      [&](unsigned place, const K& key) {
        if (place < plan.staged) keys[place] = key;
      },
      [](unsigned) {});
  __syncthreads();
  const unsigned count = staged[0];
  if (count < output.k || count > plan.staged) {
    const auto from_matrix = [&](unsigned i) { return rows.key(row, i); };
    block_finish<T, kThreads>(from_matrix, rows.length, row, 0, output.k, output, chosen, keys);
    return;
  }
  const auto from_shared = [&](unsigned i) { return keys[i]; };
  block_finish<T, kThreads>(from_shared, count, row, 0, output.k, output, chosen, keys);
}

}  // namespace kith::KITH_BACKEND
