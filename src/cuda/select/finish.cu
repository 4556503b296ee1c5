// finish.cu: writes the k keys of each row, which come in any order, in the form that the caller asked for.
//   unsorted             the keys as they are
//   kth_only             the largest key of each row, by a reduction
//   sorted, values_only  up to 4096 keys in the registers of a warp or a block (bitonic.cuh); more by sort_segments
// Cost: one read of the keys, m(m + 1)/2 layers of the network for k ≤ 2^m. Limits: none.
#include "cuda/select/finish.hpp"

#include "cuda/primitives/bitonic.cuh"
#include "cuda/primitives/device_sort.hpp"
#include "cuda/primitives/matrix_element.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::select {

namespace {

constexpr unsigned kRowsPerBlock = 4;  // of the kernels with one warp per row
constexpr unsigned kMaximumByBlockThreads = 256;

template <class T>
__global__ void put_kernel(const KeyOf<T>* keys, std::int64_t stride, Output<T> output) {
  const std::int64_t index = thread_index();
  if (index >= output.source.rows * output.k) return;
  const MatrixElement at = element_at(index, output.k);
  output.put(at.row, at.column, keys[at.row * stride + at.column]);
}

// The largest of the lanes' keys, in every lane.
template <class K>
__device__ K warp_maximum(K key) {
  for (unsigned mask = kWarp / 2; mask > 0; mask /= 2) key = chosen(key, shuffle_xor(key, mask), false);
  return key;
}

// Writes the largest key of each row, by kThreads threads: a warp, with several rows per block, or the whole block.
template <class T, unsigned kThreads>
__global__ void maximum_kernel(const KeyOf<T>* keys, Output<T> output) {
  using Key = KeyOf<T>;
  const std::int64_t row = thread_index() / kThreads;
  if (row >= output.source.rows) return;  // whole warps leave; never with one block per row
  const unsigned thread = threadIdx.x % kThreads;
  const Key* const mine = keys + row * output.k;
  Key largest{};
  for (unsigned i = thread; i < output.k; i += kThreads) largest = chosen(largest, mine[i], false);
  largest = warp_maximum(largest);
  if constexpr (kThreads > kWarp) {
    KITH_SHARED(Key, warp_maxima, kThreads / kWarp);
    if (lane_id() == 0) warp_maxima[warp_id()] = largest;
    __syncthreads();
    largest = warp_maximum(lane_id() < kThreads / kWarp ? warp_maxima[lane_id()] : Key{});
  }
  if (thread == 0) output.put(row, output.k - 1, largest);
}

// A sort of rows by kThreads threads each, with kItems keys per thread. A block has several rows if a warp sorts one.
template <unsigned kThreads, unsigned kItems>
struct SortRowsShape {
  static constexpr unsigned kRows = kThreads == kWarp ? kRowsPerBlock : 1;
  static constexpr unsigned kKeys = kThreads * kItems;
};

template <class T, unsigned kThreads, unsigned kItems>
__global__ void __launch_bounds__(kThreads* SortRowsShape<kThreads, kItems>::kRows)
    sort_rows_kernel(const KeyOf<T>* keys, Output<T> output) {
  using Key = KeyOf<T>;
  using Sizes = SortRowsShape<kThreads, kItems>;
  const std::int64_t row = thread_index() / kThreads;
  if (row >= output.source.rows) return;  // whole warps leave; never with one block per row
  const unsigned thread = threadIdx.x % kThreads;
  const Key* const mine = keys + row * output.k;
  Key* const shared = dynamic_shared<Key>() + threadIdx.x / kThreads * Sizes::kKeys;

  Key items[kItems];
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) {
    const unsigned at = i * kThreads + thread;
    items[i] = at < output.k ? mine[at] : last_key<Key>();
  }
  Bitonic<Key, kThreads, kItems>::sort(items, shared);

  // Through shared memory, so that writes coalesce.
  if constexpr (kThreads > kWarp) __syncthreads();
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) shared[thread * kItems + i] = items[i];
  if constexpr (kThreads > kWarp)
    __syncthreads();
  else
    __syncwarp();
  for (unsigned rank = thread; rank < output.k; rank += kThreads) output.put(row, rank, shared[rank]);
}

template <class T, unsigned kThreads>
void put_maximum(const char* name, const KeyOf<T>* keys, const SelectCall<T>& call) {
  constexpr unsigned kRows = kThreads == kWarp ? kRowsPerBlock : 1;
  launch(name, maximum_kernel<T, kThreads>, {.blocks = ceil_div(call.rows.rows, kRows), .threads = kThreads * kRows},
         call.stream(), keys, call.output);
}

template <class T, unsigned kThreads, unsigned kItems>
void sort_rows(const KeyOf<T>* keys, const SelectCall<T>& call) {
  using Sizes = SortRowsShape<kThreads, kItems>;
  launch("finish: sort rows", sort_rows_kernel<T, kThreads, kItems>,
         {.blocks = ceil_div(call.rows.rows, Sizes::kRows),
          .threads = kThreads * Sizes::kRows,
          .shared_bytes = Sizes::kRows * Sizes::kKeys * sizeof(KeyOf<T>)},
         call.stream(), keys, call.output);
}

template <class T>
void put_rows_in_order(KeyOf<T>* keys, const SelectCall<T>& call) {
  const unsigned k = call.k();
  if (k <= 32) return sort_rows<T, kWarp, 1>(keys, call);
  if (k <= 64) return sort_rows<T, kWarp, 2>(keys, call);
  if (k <= 128) return sort_rows<T, kWarp, 4>(keys, call);
  if (k <= 256) return sort_rows<T, kWarp, 8>(keys, call);
  if (k <= 512) return sort_rows<T, 128, 4>(keys, call);
  if (k <= 1024) return sort_rows<T, 256, 4>(keys, call);
  if (k <= 2048) return sort_rows<T, 256, 8>(keys, call);
  if (k <= 4096) return sort_rows<T, 512, 8>(keys, call);
  sort_segments(keys, call.rows.rows, k, call.workspace);
  put_sorted_rows(keys, k, call);
}

}  // namespace

template <class T>
void put_sorted_rows(const KeyOf<T>* keys, std::int64_t stride, const SelectCall<T>& call) {
  launch("finish: put", put_kernel<T>, thread_each(call.rows.rows * call.k()), call.stream(), keys, stride,
         call.output);
}

template <class T>
void finish_rows(KeyOf<T>* keys, const SelectCall<T>& call) {
  const unsigned k = call.k();
  if (call.output.form == TopkOutput::unsorted || k == 1) return put_sorted_rows(keys, k, call);
  if (call.output.form != TopkOutput::kth_only) return put_rows_in_order(keys, call);
  if (k <= device_policy().maximum_by_warp_k) return put_maximum<T, kWarp>("finish: maximum by warps", keys, call);
  put_maximum<T, kMaximumByBlockThreads>("finish: maximum by blocks", keys, call);
}

template void put_sorted_rows<float>(const PackedKey*, std::int64_t, const SelectCall<float>&);
template void put_sorted_rows<double>(const WideKey*, std::int64_t, const SelectCall<double>&);
template void finish_rows<float>(PackedKey*, const SelectCall<float>&);
template void finish_rows<double>(WideKey*, const SelectCall<double>&);

}  // namespace kith::KITH_BACKEND::select
