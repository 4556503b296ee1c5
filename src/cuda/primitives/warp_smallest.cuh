// warp_smallest.cuh: the few smallest of many keys, by a warp, in registers and without a barrier.
// Cost: most groups of keys are dismissed by one comparison with the k-th smallest so far; others are sorted and
// merged.
#pragma once

#include "cuda/primitives/bitonic.cuh"

namespace kith::KITH_BACKEND::inline primitives {

// Leaves in `best` the k ≤ 32 · kItems smallest of source(0 … count − 1), ascending, by a warp. kGroups groups of keys
// are in flight at once; if one has a key below the k-th so far, all are sorted and merged.
template <class K, unsigned kItems, class Source>
__device__ void warp_smallest(const Source& source, unsigned count, unsigned k, K (&best)[kItems]) {
  using Network = Bitonic<K, kWarp, kItems>;
  constexpr unsigned kGroups = kItems == 1 ? 4 : 1;
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) best[i] = last_key<K>();
  K kth = last_key<K>();
  for (unsigned first = 0; first < count; first += kGroups * Network::kSize) {
    K groups[kGroups][kItems];
    bool any = false;
    KITH_UNROLL
    for (unsigned g = 0; g < kGroups; ++g) {
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i) {
        const unsigned at = first + (g * kItems + i) * kWarp + lane_id();
        groups[g][i] = at < count ? source(at) : last_key<K>();
        any = any || groups[g][i] < kth;
      }
    }
    if (!__any_sync(kFullMask, any)) continue;
    KITH_UNROLL
    for (unsigned g = 0; g < kGroups; ++g) Network::sort(groups[g], nullptr);
    KITH_UNROLL
    for (unsigned step = 1; step < kGroups; step *= 2) {
      KITH_UNROLL
      for (unsigned g = 0; g + step < kGroups; g += 2 * step)
        Network::keep_smallest(groups[g], groups[g + step], nullptr);
    }
    Network::keep_smallest(best, groups[0], nullptr);
    kth = warp_rank(best, k);
  }
}

}  // namespace kith::KITH_BACKEND::inline primitives
