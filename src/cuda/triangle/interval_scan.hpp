// interval_scan.hpp: level 2 as a warp does it well. A warp, or several, takes a query. Its lanes test 32 clusters at a
// time; of each that is left they take the stretch that the reach leaves, 32 members at a time: lengths, then scores,
// then keys of what may be among the k best. Queries of a cluster go to neighboring warps, which find each other's
// members in the cache.
#pragma once

#include "core/triangle_limits.hpp"
#include "cuda/triangle/survivors.hpp"

namespace kith::KITH_BACKEND::triangle {

// The k best are in a warp's registers, which keys of doubles fill sooner.
template <class F>
constexpr unsigned kLargestWindowsList = sizeof(F) == 4 ? 1024 : 256;
constexpr unsigned kMostWindowsWarps = core::kMaxIntervalScanThreads / 32;

// k ≤ kLargestWindowsList<F>; `warps`, that share a query, is a power of two up to kMostWindowsWarps.
template <class F>
void search_windows(const Level2<F>& work, unsigned warps, cudaStream_t stream);

// What lies within the reach that level 1 and the clusters' sizes give. For any k.
template <class F>
void store_windows(const Level2<F>& work, const Survivors<F>& survivors, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
