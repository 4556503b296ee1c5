// interval_scan_kernels.cuh: the kernels of interval_scan.hpp for one type of coordinates; interval_scan_float.cu and
// interval_scan_double.cu instantiate them, so that they compile side by side.
#pragma once

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/triangle/interval_scan.cuh"

namespace kith::KITH_BACKEND::triangle {

// The first warp of a query merges the lists of all its warps, by way of dynamic shared memory. Must be called by all
// threads of the block.
template <class List>
__device__ void join_warps(List& list, unsigned k, unsigned warps) {
  using Key = typename List::Key;
  using Network = typename List::Network;
  auto* const lists = dynamic_shared<Key>();
  const auto list_of = [&](unsigned warp) { return lists + static_cast<std::size_t>(warp) * k; };
  KITH_UNROLL
  for (unsigned i = 0; i < Network::kEach; ++i)
    if (Network::rank(i) < k) list_of(warp_id())[Network::rank(i)] = list.keys()[i];
  __syncthreads();
  if (warp_id() % warps != 0) return;
  for (unsigned other = 1; other < warps; ++other) {
    Key keys[Network::kEach];
    KITH_UNROLL
    for (unsigned i = 0; i < Network::kEach; ++i)
      keys[i] = Network::rank(i) < k ? list_of(warp_id() + other)[Network::rank(i)] : last_key<Key>();
    Network::keep_smallest(list.keys(), keys, nullptr);
  }
}

// Blocks of a multiprocessor: more warps hide more latency, which is worth fewer registers a thread, except for long
// lists and for metrics whose functions are called.
template <class List, bool kSquared>
constexpr unsigned kIntervalScanBlocks = kSquared && sizeof(List) <= 64 ? 3
                                         : sizeof(List) <= 160          ? 2
                                                                        : 1;

template <class F, class List, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(kIntervalScanThreads, kIntervalScanBlocks<List, kSquared>)
    interval_scan_kernel(const __grid_constant__ QueryBatch<F> batch, unsigned warps) {
  using Network = typename List::Network;
  KITH_SHARED(unsigned long long, search_bounds, kIntervalScanThreads / kWarp);
  const unsigned query_in_block = warp_id() / warps;
  const std::int64_t query =
      static_cast<std::int64_t>(blockIdx.x) * (kIntervalScanThreads / kWarp / warps) + query_in_block;
  const auto position = static_cast<unsigned>(batch.first + query);
  ListSink<List> sink(batch.k);
  if (warps > 1) {
    if (lane_id() == 0) search_bounds[warp_id()] = ~0ULL >> 1U;  // above the bits of every number
    __syncthreads();
  }
  if (query < batch.count) {
    IntervalScan<F, ListSink<List>, kSquared, kTeam> scan(batch, sink, position,
                                                          {warps > 1 ? search_bounds + query_in_block : nullptr});
    scan.run(warp_id() % warps, warps);
    scan.count_work();
    sink.list().finish();
  }
  if (warps > 1) join_warps(sink.list(), batch.k, warps);
  if (query >= batch.count || warp_id() % warps != 0) return;
  const std::int64_t row = static_cast<std::int64_t>(batch.queries.ids[position]) * batch.k;
  KITH_UNROLL
  for (unsigned i = 0; i < Network::kEach; ++i) {
    if (Network::rank(i) >= batch.k) continue;
    const auto key = sink.list().keys()[i];
    batch.keys[row + Network::rank(i)] = value_of<F>(order_of(key), false);
    batch.ids[row + Network::rank(i)] = id_of(key);
  }
}

template <class F, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(kIntervalScanThreads)
    store_interval_scan_kernel(const __grid_constant__ QueryBatch<F> batch,
                               const __grid_constant__ Survivors<F> survivors) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * (kIntervalScanThreads / kWarp) + warp_id();
  if (query >= batch.count) return;
  SurvivorSink<F> sink(survivors, query);
  IntervalScan<F, SurvivorSink<F>, kSquared, kTeam> scan(batch, sink, static_cast<unsigned>(batch.first + query), {});
  scan.run(0, 1);
  scan.count_work();
  if (lane_id() == 0) survivors.counts[query] = sink.count();
}

template <class F, class List>
void launch_interval_scan(const QueryBatch<F>& batch, unsigned warps, cudaStream_t stream) {
  const unsigned queries = kIntervalScanThreads / kWarp / warps;
  const std::size_t shared = warps > 1 ? kIntervalScanThreads / kWarp * batch.k * sizeof(KeyOf<F>) : 0;
  with_space(batch.space, [&](auto squared, auto team) {
    launch("interval_scan", interval_scan_kernel<F, List, squared.value, team.value>,
           {.blocks = ceil_div(batch.count, queries), .threads = kIntervalScanThreads, .shared_bytes = shared}, stream,
           batch, warps);
  });
}

template <class F>
void interval_scan(const QueryBatch<F>& batch, unsigned warps, cudaStream_t stream) {
  using Key = KeyOf<F>;
  if (batch.k <= 32) return launch_interval_scan<F, select::LongWarpList<Key, 1, 2>>(batch, warps, stream);
  if (batch.k <= 128) return launch_interval_scan<F, select::LongWarpList<Key, 4, 3>>(batch, warps, stream);
  launch_interval_scan<F, select::LongWarpList<Key, kMaxIntervalScanK<F> / kWarp, 8>>(batch, warps, stream);
}

template <class F>
void store_interval_scan(const QueryBatch<F>& batch, const Survivors<F>& survivors, cudaStream_t stream) {
  with_space(batch.space, [&](auto squared, auto team) {
    launch("store_interval_scan", store_interval_scan_kernel<F, squared.value, team.value>,
           {.blocks = ceil_div(batch.count, kIntervalScanThreads / kWarp), .threads = kIntervalScanThreads}, stream,
           batch, survivors);
  });
}

}  // namespace kith::KITH_BACKEND::triangle
