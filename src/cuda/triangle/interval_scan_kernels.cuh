// interval_scan_kernels.cuh: the kernels of windows.hpp for one type of coordinates; compiled in a file for each.
#pragma once

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/triangle/interval_scan.cuh"

namespace kith::KITH_BACKEND::triangle {

// Lists of the warps that share a query, in dynamic shared memory, joined by the first of them. All threads of the
// block call.
template <class Queues>
__device__ void join_warps(Queues& queues, unsigned k, unsigned warps) {
  using Key = typename Queues::Key;
  using Network = typename Queues::Network;
  auto* const lists = dynamic_shared<Key>();
  const auto list_of = [&](unsigned warp) { return lists + static_cast<std::size_t>(warp) * k; };
  KITH_UNROLL
  for (unsigned i = 0; i < Network::kEach; ++i)
    if (Network::rank(i) < k) list_of(warp_id())[Network::rank(i)] = queues.keys()[i];
  __syncthreads();
  if (warp_id() % warps != 0) return;
  for (unsigned other = 1; other < warps; ++other) {
    Key keys[Network::kEach];
    KITH_UNROLL
    for (unsigned i = 0; i < Network::kEach; ++i)
      keys[i] = Network::rank(i) < k ? list_of(warp_id() + other)[Network::rank(i)] : last_key<Key>();
    Network::keep_smallest(queues.keys(), keys, nullptr);
  }
}

// Blocks of a multiprocessor: warps that hide each other's waits are worth more than registers, but for long lists and
// for metrics whose functions are called.
template <class Queues, bool kSquared>
constexpr unsigned kWindowsBlocks = kSquared && sizeof(Queues) <= 64 ? 3
                                    : sizeof(Queues) <= 160          ? 2
                                                                     : 1;

template <class F, class Queues, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(kWindowsThreads, kWindowsBlocks<Queues, kSquared>)
    windows_kernel(const __grid_constant__ Level2<F> work, unsigned warps) {
  using Network = typename Queues::Network;
  KITH_SHARED(unsigned long long, reaches, kWindowsThreads / kWarp);
  const unsigned in_block = warp_id() / warps;
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * (kWindowsThreads / kWarp / warps) + in_block;
  const auto position = static_cast<unsigned>(work.first + query);
  ListSink<Queues> sink(work.k);
  if (warps > 1) {
    if (lane_id() == 0) reaches[warp_id()] = ~0ULL >> 1U;  // above every number
    __syncthreads();
  }
  if (query < work.count) {
    IntervalScan<F, ListSink<Queues>, kSquared, kTeam> search(work, sink, position,
                                                              {warps > 1 ? reaches + in_block : nullptr});
    search.run(warp_id() % warps, warps);
    search.count_work();
    sink.finish();
  }
  if (warps > 1) join_warps(sink.queues(), work.k, warps);
  if (query >= work.count || warp_id() % warps != 0) return;
  const std::int64_t row = static_cast<std::int64_t>(work.queries.ids[position]) * work.k;
  KITH_UNROLL
  for (unsigned i = 0; i < Network::kEach; ++i) {
    if (Network::rank(i) >= work.k) continue;
    const auto key = sink.queues().keys()[i];
    work.keys[row + Network::rank(i)] = value_of<F>(order_of(key), false);
    work.ids[row + Network::rank(i)] = id_of(key);
  }
}

template <class F, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(kWindowsThreads)
    store_windows_kernel(const __grid_constant__ Level2<F> work, const __grid_constant__ Survivors<F> survivors) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * (kWindowsThreads / kWarp) + warp_id();
  if (query >= work.count) return;
  RowSink<F> sink(survivors, query);
  IntervalScan<F, RowSink<F>, kSquared, kTeam> search(work, sink, static_cast<unsigned>(work.first + query), {});
  search.run(0, 1);
  search.count_work();
  if (lane_id() == 0) survivors.counts[query] = sink.count();
}

template <class F, class Queues>
void launch_windows(const Level2<F>& work, unsigned warps, cudaStream_t stream) {
  const unsigned queries = kWindowsThreads / kWarp / warps;
  const std::size_t shared = warps > 1 ? kWindowsThreads / kWarp * work.k * sizeof(KeyOf<F>) : 0;
  with_space(work.space, [&](auto squared, auto team) {
    launch("interval-scan", windows_kernel<F, Queues, squared.value, team.value>,
           {.blocks = ceil_div(work.count, queries), .threads = kWindowsThreads, .shared_bytes = shared}, stream, work,
           warps);
  });
}

template <class F>
void search_windows(const Level2<F>& work, unsigned warps, cudaStream_t stream) {
  using Key = KeyOf<F>;
  if (work.k <= 32) return launch_windows<F, select::WarpQueues<Key, 1, 2>>(work, warps, stream);
  if (work.k <= 128) return launch_windows<F, select::WarpQueues<Key, 4, 3>>(work, warps, stream);
  launch_windows<F, select::WarpQueues<Key, kLargestWindowsList<F> / kWarp, 8>>(work, warps, stream);
}

template <class F>
void store_windows(const Level2<F>& work, const Survivors<F>& survivors, cudaStream_t stream) {
  with_space(work.space, [&](auto squared, auto team) {
    launch("store_windows", store_windows_kernel<F, squared.value, team.value>,
           {.blocks = ceil_div(work.count, kWindowsThreads / kWarp), .threads = kWindowsThreads}, stream, work,
           survivors);
  });
}

}  // namespace kith::KITH_BACKEND::triangle
