// interval_scan.hpp: level 2 by warps: members of a cluster that may be neighbors lie in one interval of its sorted
// distances.
// Idea    one or several warps take a query. Lanes test 32 clusters at a time; in each that is left they scan the
//         interval that the search bound allows, 32 members at a time: distances to the center, then scores, then exact
//         keys of members that may be among the k best. Queries of a cluster go to neighboring warps, which find each
//         other's members in the cache.
// Limits  k ≤ kMaxIntervalScanK with lists in registers; any k with stored survivors.
#pragma once

#include "core/triangle_limits.hpp"
#include "cuda/triangle/survivors.hpp"

namespace kith::KITH_BACKEND::triangle {

// The k best are kept in a warp's registers, where keys of doubles take twice the space.
template <class F>
constexpr unsigned kMaxIntervalScanK = sizeof(F) == 4 ? 1024 : 256;
constexpr unsigned kMaxIntervalScanWarps = core::kMaxIntervalScanThreads / 32;

// k ≤ kMaxIntervalScanK<F>; `warps` share a query, a power of two up to kMaxIntervalScanWarps.
template <class F>
void interval_scan(const QueryBatch<F>& batch, unsigned warps, cudaStream_t stream);

// Stores all members within the search bound that level 1 and the clusters' sizes give. For any k.
template <class F>
void store_interval_scan(const QueryBatch<F>& batch, const Survivors<F>& survivors, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
