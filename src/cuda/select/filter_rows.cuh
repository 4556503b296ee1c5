// filter_rows.cuh: the one pass over the matrix, which stores the keys below their row's threshold as candidates.
// A block reads one chunk of a row; each thread has kInFlight 16-byte loads in flight. Most batches have no value below
// the threshold and cost a minimum and a comparison. Candidates are staged in shared memory and appended to the row's
// list with one atomic addition: whenever the stage is full for large k, else at the end of the block.
// Cost: the matrix read once; candidates written once.
#pragma once

#include "cuda/primitives/append.cuh"
#include "cuda/primitives/row_vectors.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/select/sample_threshold.cuh"

namespace kith::KITH_BACKEND::select {

struct FilterShape {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kInFlight = 2;
  static constexpr unsigned kStage = 1024;       // candidates that a block stages for small k
  static constexpr unsigned kDenseStage = 2048;  // candidates after which it empties the stage for large k
};

// The capacity of the stage in keys. For large k a whole batch of the block fits behind kDenseStage.
template <class T, bool kBuckets>
__host__ __device__ constexpr unsigned filter_stage() {
  constexpr unsigned kBatch = FilterShape::kThreads * FilterShape::kInFlight * (16 / sizeof(T));
  return kBuckets ? FilterShape::kDenseStage + kBatch : FilterShape::kStage;
}

// The threshold as a key, and as a cheap test of values that never rejects a candidate.
template <class T>
struct Threshold {
  using K = KeyOf<T>;

  K key;
  T limit;    // the threshold's value, negated for `largest`: values below it are candidates, values above it are not
  bool tied;  // some values equal to the limit are candidates
  bool all;   // NaN may be a candidate, which no comparison of values finds

  __device__ Threshold(const K& threshold, bool largest)
      : key(threshold),
        limit(value_of<T>(order_of(threshold), largest)),
        tied(id_of(threshold) != 0),
        all(order_of(threshold) > (ValueTraits<T>::kInfinity | ValueTraits<T>::kSign)) {
    if (largest) limit = -limit;
  }
};

// The bucket of a key: bucket b holds splitter b − 1 ≤ key < splitter b.
template <class K>
__device__ unsigned bucket_of(const K& key, const K* splitters, unsigned buckets) {
  unsigned low = 0;
  unsigned high = buckets - 1;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (key < splitters[middle]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

__device__ __forceinline__ float smaller_number(float a, float b) {
  return fminf(a, b);
}

__device__ __forceinline__ double smaller_number(double a, double b) {
  return fmin(a, b);
}

__device__ __forceinline__ float larger_number(float a, float b) {
  return fmaxf(a, b);
}

__device__ __forceinline__ double larger_number(double a, double b) {
  return fmax(a, b);
}

// A batch of a thread's values, and the test of which are candidates.
template <class T>
struct Batch {
  static constexpr unsigned kWidth = RowVectors<T>::kWidth;
  static constexpr unsigned kCount = FilterShape::kInFlight * kWidth;
  static constexpr unsigned kVectors = FilterShape::kInFlight * FilterShape::kThreads;  // of all threads

  T values[kCount];

  // Loads this thread's vectors of the block's batch, from first + threadIdx.x on; vectors from `end` on become NaN.
  __device__ __forceinline__ void load(const RowVectors<T>& vectors, unsigned first, unsigned end) {
    const unsigned mine = first + threadIdx.x;
    const bool inside = vectors.inside(first) && first + kVectors <= end && vectors.inside(first + kVectors - 1);
    KITH_UNROLL
    for (unsigned u = 0; u < FilterShape::kInFlight; ++u) {
      T loaded[kWidth];
      const unsigned vector = mine + u * FilterShape::kThreads;
      const T outside = value_of<T>(kNanOrder<T>, false);
      if (inside) {
        vectors.load_inside(vector, loaded);
      } else if (vector < end) {
        vectors.load(vector, loaded, outside);
      } else {
        KITH_UNROLL
        for (unsigned i = 0; i < kWidth; ++i) loaded[i] = outside;
      }
      KITH_UNROLL
      for (unsigned i = 0; i < kWidth; ++i) values[u * kWidth + i] = loaded[i];
    }
  }

  // The smallest value, or the negated largest for `largest`; NaN only if all are NaN.
  __device__ __forceinline__ T smallest(bool largest) const {
    T best[2] = {values[0], values[1]};
    if (largest) {
      KITH_UNROLL
      for (unsigned i = 2; i < kCount; ++i) best[i % 2] = larger_number(best[i % 2], values[i]);
      return -larger_number(best[0], best[1]);
    }
    KITH_UNROLL
    for (unsigned i = 2; i < kCount; ++i) best[i % 2] = smaller_number(best[i % 2], values[i]);
    return smaller_number(best[0], best[1]);
  }

  __device__ static unsigned column(const RowVectors<T>& vectors, unsigned first, unsigned i) {
    return vectors.column(first + i / kWidth * FilterShape::kThreads, i % kWidth);
  }

  // One bit per value, set for candidates. Values below the limit are; those equal to it, and all values where NaN may
  // be a candidate, are decided by their keys.
  __device__ __forceinline__ unsigned wanted(const Rows<T>& rows, std::int64_t row, const RowVectors<T>& vectors,
                                             unsigned first, const Threshold<T>& threshold) const {
    unsigned below = 0;
    if (threshold.key == last_key<KeyOf<T>>()) {
      KITH_UNROLL
      for (unsigned i = 0; i < kCount; ++i)
        if (column(vectors, first, i) < rows.length) below |= 1U << i;
      return below;
    }
    KITH_UNROLL
    for (unsigned i = 0; i < kCount; ++i)
      if ((rows.largest ? -values[i] : values[i]) < threshold.limit) below |= 1U << i;
    if (!threshold.tied && !threshold.all) return below;
    // Columns grow along a batch: in a row of equal values most batches lie past the threshold's own column.
    const unsigned first_column = vectors.column(first, 0);
    if (!threshold.all && rows.ids == nullptr && first_column >= id_of(threshold.key) && first_column < rows.length)
      return below;
    unsigned equal = 0;
    KITH_UNROLL
    for (unsigned i = 0; i < kCount; ++i)
      if (threshold.all || values[i] == (rows.largest ? -threshold.limit : threshold.limit)) equal |= 1U << i;
    equal &= ~below;
    for (; equal != 0; equal &= equal - 1U) {
      const auto i = static_cast<unsigned>(__ffs(static_cast<int>(equal))) - 1U;
      const unsigned c = column(vectors, first, i);
      if (c < rows.length && rows.key(row, c) < threshold.key) below |= 1U << i;
    }
    return below;
  }
};

// Finds the keys of vectors [first, end) of a row below the threshold: found(position, key) for each, with positions
// counted on from *staged, and after(position) once per batch, with the position past this thread's last key or 0. Must
// be called by all threads of the block; `next` is the first batch, already loaded.
template <class T, class Found, class After>
__device__ __forceinline__ void filter_vectors(const Rows<T>& rows, std::int64_t row, const RowVectors<T>& vectors,
                                               unsigned first, unsigned end, Batch<T> next,
                                               const Threshold<T>& threshold, unsigned* staged, const Found& found,
                                               const After& after) {
  for (unsigned at = first; at < end; at += Batch<T>::kVectors) {
    // The next batch is in flight while this one is tested.
    const Batch<T> batch = next;
    const unsigned mine = at + threadIdx.x;
    next.load(vectors, at + Batch<T>::kVectors, end);
    unsigned position = 0;
    const bool any = batch.smallest(rows.largest) <= threshold.limit || threshold.all;
    if (__any_sync(kFullMask, any)) {
      const unsigned wanted = any ? batch.wanted(rows, row, vectors, mine, threshold) : 0;
      position = warp_append_some(static_cast<unsigned>(__popc(wanted)), staged);
      KITH_UNROLL
      for (unsigned i = 0; i < Batch<T>::kCount; ++i) {
        if ((wanted >> i & 1U) == 0) continue;
        found(position, rows.key(row, Batch<T>::column(vectors, mine, i), batch.values[i]));
        ++position;
      }
    }
    after(position);
  }
}

// One block per (row, chunk). kBuckets is for large k, and also counts the candidates by bucket. Dynamic shared memory:
// the stage; with kBuckets also splitters and the block's histogram.
template <class T, bool kBuckets>
__global__ void __launch_bounds__(FilterShape::kThreads)
    filter_kernel(Rows<T> rows, unsigned chunks, ThresholdPlan plan, ThresholdState<KeyOf<T>> state) {
  using K = KeyOf<T>;
  constexpr unsigned kThreads = FilterShape::kThreads;
  constexpr unsigned kWidth = RowVectors<T>::kWidth;
  constexpr unsigned kStage = filter_stage<T, kBuckets>();
  KITH_SHARED(unsigned, staged, 2);
  auto* stage = dynamic_shared<K>();
  K* splitters = stage + kStage;
  auto* histogram = reinterpret_cast<unsigned*>(splitters + plan.buckets);

  const std::int64_t row = blockIdx.x / chunks;
  const RowVectors<T> vectors(rows.row(row), rows.length);
  const unsigned first = blockIdx.x % chunks * (plan.chunk / kWidth);
  const unsigned end = min(first + plan.chunk / kWidth, vectors.count());
  trigger_dependent_launch();
  // The sampling kernel is no dependent launch, so the matrix is complete and may be read before the wait.
  Batch<T> next;
  next.load(vectors, first, end);
  wait_for_previous_kernel();
  const Threshold<T> threshold(state.thresholds[row], rows.largest);
  if (plan.rank > 0 && threshold.key == last_key<K>())
    return;  // the sample gave no threshold: the row is searched whole
  K* candidates = state.candidates + row * plan.capacity;

  const auto empty_stage = [&] {
    __syncthreads();
    const unsigned count = min(staged[0], kStage);
    if (threadIdx.x == 0 && count > 0) staged[1] = atomicAdd(&state.filtered[row], count);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += kThreads) {
      if (staged[1] + i < plan.capacity) candidates[staged[1] + i] = stage[i];
      if constexpr (kBuckets) atomicAdd(&histogram[bucket_of(stage[i], splitters, plan.buckets)], 1U);
    }
    __syncthreads();
    if (threadIdx.x == 0) staged[0] = 0;
    __syncthreads();
  };
  const auto found = [&](unsigned position, const K& key) {
    if (kBuckets || position < kStage) {
      stage[position] = key;
    } else {
      const unsigned direct = atomicAdd(&state.filtered[row], 1U);
      if (direct < plan.capacity) candidates[direct] = key;
    }
  };
  const auto after = [&](unsigned position) {
    if constexpr (kBuckets) {
      if (__syncthreads_or(position > FilterShape::kDenseStage ? 1 : 0) != 0) empty_stage();
    }
  };

  if (threadIdx.x == 0) staged[0] = 0;
  if constexpr (kBuckets) {
    for (unsigned b = threadIdx.x; b < plan.buckets; b += kThreads) {
      if (b + 1 < plan.buckets) splitters[b] = state.splitters[row * (plan.buckets - 1) + b];
      histogram[b] = 0;
    }
  }
  __syncthreads();
  filter_vectors(rows, row, vectors, first, end, next, threshold, staged, found, after);
  empty_stage();
  if constexpr (kBuckets) {
    for (unsigned b = threadIdx.x; b < plan.buckets; b += kThreads)
      if (histogram[b] > 0) atomicAdd(&state.histogram[row * plan.buckets + b], histogram[b]);
  }
}

}  // namespace kith::KITH_BACKEND::select
