// filter_whole_row.cuh: sample, filter and finish of one row by one block, for many rows of moderate length.
// What the sample has read of the row is still in the cache when the row is filtered, so the row comes from memory
// once; candidates never leave shared memory, and there is one kernel to start instead of three.
#pragma once

#include "cuda/select/filter_rows.cuh"
#include "cuda/select/finish_candidates.cuh"

namespace kith::KITH_BACKEND {

// Keys of dynamic shared memory: the kept samples and then the candidates share a place.
template <unsigned kKept>
__host__ __device__ constexpr unsigned whole_row_room(unsigned room, unsigned k) {
  constexpr unsigned kThreads = FilterShape::kThreads;
  return finish_room(room > kThreads * kKept ? room : kThreads * kKept, k);
}

template <class T, unsigned kKept>
__global__ void __launch_bounds__(FilterShape::kThreads)
    filter_whole_row_kernel(Rows<T> rows, ThresholdPlan plan, Output<T> output) {
  using K = KeyOf<T>;
  constexpr unsigned kThreads = FilterShape::kThreads;
  KITH_SHARED(unsigned, staged, 1);
  auto* chosen = dynamic_shared<K>();
  K* keys = chosen + finished_keys(output.k);
  const std::int64_t row = blockIdx.x;
  if (threadIdx.x == 0) staged[0] = 0;
  const Threshold<T> threshold(sampled_threshold<T, kThreads, false, kKept>(rows, row, plan, keys), rows.largest);
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
