// walk.cuh: the way of a warp through a tree, depth first, the nearest box of a group first.
// Idea    lanes test the 32 boxes of a group at once; their scores wait in shared memory, a row for each level, and a
//         lane reads its own alone. The least of those that are left is opened next; when none is left, the walk goes
//         up, where the number of a group says that of its parent.
#pragma once

#include "cuda/runtime/platform.cuh"
#include "cuda/select/row_segment.cuh"
#include "cuda/tree/tree_view.hpp"

namespace kith::KITH_BACKEND::tree {

constexpr unsigned kWalkThreads = 256;
constexpr unsigned kWalkWarps = kWalkThreads / kWarp;
// Scores of a warp that wait.
constexpr unsigned kWaiting = kMaxLevels * kWarp;

// Scores are not negative: this one stands for a box that is done or of no interest.
template <class F>
constexpr F kDone = -1;

// The order of scores as integers, rounded: which box comes first decides how long a walk takes, not what it finds.
template <class F>
__device__ __forceinline__ unsigned rank_of_score(F score) {
  return __float_as_uint(static_cast<float>(score));
}

// The leaf that the nearest box of each level leads to, and how far that is may be asked of open(level, group). Must be
// called by all lanes of the warp.
template <class Open>
__device__ __forceinline__ unsigned near_leaf(int levels, Open open) {
  unsigned group = 0;
  for (int level = levels - 1; level >= 0; --level) {
    const auto score = open(level, group);
    const unsigned rank = score < 0 ? ~0U : rank_of_score(score);
    const unsigned least = __reduce_min_sync(kFullMask, rank);
    group = group * kFanOut + select::lowest_bit(__ballot_sync(kFullMask, rank == least ? 1 : 0));
  }
  return group;
}

// Calls open(level, group), which returns this lane's score of its box of the group or kDone, and scan(leaf) for every
// leaf whose score is not above limit() when its turn comes. Scores that are no numbers come last. Must be called by
// all lanes of the warp; `waiting` is shared memory of the warp, kWaiting scores.
template <class F, class Open, class Limit, class Scan>
__device__ __forceinline__ void walk_tree(int levels, F* waiting, Open open, Limit limit, Scan scan) {
  int level = levels - 1;
  unsigned group = 0;
  waiting[static_cast<unsigned>(level) * kWarp + lane_id()] = open(level, group);
  while (level < levels) {
    F* const mine = waiting + static_cast<unsigned>(level) * kWarp + lane_id();
    const F score = *mine;
    const bool is_left = !(score < 0) && !(score > limit());
    const unsigned rank = is_left ? rank_of_score(score) : ~0U;
    const unsigned least = __reduce_min_sync(kFullMask, rank);
    if (least == ~0U) {
      ++level;
      group /= kFanOut;
      continue;
    }
    const unsigned next = select::lowest_bit(__ballot_sync(kFullMask, rank == least ? 1 : 0));
    if (lane_id() == next) *mine = kDone<F>;
    const unsigned box = group * kFanOut + next;
    if (level == 0) {
      scan(box);
    } else {
      --level;
      group = box;
      waiting[static_cast<unsigned>(level) * kWarp + lane_id()] = open(level, group);
    }
  }
}

}  // namespace kith::KITH_BACKEND::tree
