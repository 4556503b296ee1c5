// warp_lists.cuh: the k smallest keys that a warp is offered a few at a time, in registers.
// For searches that meet candidates in small groups: the interval scan of triangle, the walk of tree. All lanes of the
// warp call a list's functions.
//   offer(offering, key)  lanes that are `offering` have a key
//   settle()              follows a group of keys: lowers the threshold if that is worth it
//   finish()              after the last key
//   threshold()           keys not below it are of no use
//   keys()                after finish(), by Network::rank(item)
#pragma once

#include "cuda/select/warp_queues.cuh"

namespace kith::KITH_BACKEND::select {

// Up to 32 keys, one a lane, ascending. Newcomers that are few are inserted one by one, which is one shuffle each; many
// are sorted and merged.
template <class K>
class ShortWarpList {
 public:
  using Key = K;
  using Network = StridedBitonic<K, kWarp, 1>;
  static constexpr unsigned kMostKeys = kWarp;

  __device__ explicit ShortWarpList(unsigned k) : k_(k) { keys_[0] = last_key<K>(); }

  __device__ __forceinline__ void offer(bool offering, const K& key) {
    const bool wanted = offering && key < threshold_;
    unsigned left = __ballot_sync(kFullMask, wanted ? 1 : 0);
    if (left == 0) return;
    if (__popc(left) > kFew) {
      K others[1] = {wanted ? key : last_key<K>()};
      Network::sort(others, nullptr);
      Network::keep_smallest(keys_, others, nullptr);
    } else {
      for (; left != 0; left &= left - 1) insert(shuffle(key, lowest_bit(left)));
    }
    threshold_ = shuffle(keys_[0], k_ - 1);
  }
  __device__ __forceinline__ void settle() {}
  __device__ __forceinline__ void finish() {}
  __device__ __forceinline__ const K& threshold() const { return threshold_; }
  __device__ K (&keys())[1] { return keys_; }

 private:
  static constexpr int kFew = 12;  // insertions that cost as much as a sort

  // The lanes from the key's place on hand their keys to the next.
  __device__ __forceinline__ void insert(const K& key) {
    const unsigned lane = lane_id();
    const K before = shuffle(keys_[0], lane == 0 ? 0 : lane - 1);
    if (key < keys_[0]) keys_[0] = lane > 0 && key < before ? before : key;
  }

  K keys_[1];
  K threshold_ = last_key<K>();
  unsigned k_;
};

// Up to 32 · kItems keys in the queues of warp_queues.cuh, with kOwn of each lane.
template <class K, unsigned kItems, unsigned kOwn>
class LongWarpList {
 public:
  using Key = K;
  using Queues = WarpQueues<K, kItems, kOwn>;
  using Network = typename Queues::Network;
  static constexpr unsigned kMostKeys = kItems * kWarp;

  __device__ explicit LongWarpList(unsigned k) : queues_(k), merge_at_(k / kMergeFraction + 1) {}

  __device__ __forceinline__ void offer(bool offering, const K& key) {
    if (offering && key < queues_.threshold()) ++pending_;
    queues_.offer(offering, key, false);
  }
  // Merges the thread queues, which lowers the threshold, once their newcomers are worth what a merge costs.
  __device__ __forceinline__ void settle() {
    if (__reduce_add_sync(kFullMask, pending_) >= merge_at_) finish();
  }
  __device__ __forceinline__ void finish() {
    queues_.offer(false, last_key<K>(), true);
    pending_ = 0;
  }
  __device__ __forceinline__ const K& threshold() const { return queues_.threshold(); }
  __device__ auto& keys() { return queues_.keys(); }

 private:
  static constexpr unsigned kMergeFraction = 8;  // newcomers are worth a merge from 1/8 of the list on

  Queues queues_;
  unsigned pending_ = 0;  // newcomers of this lane since the last merge
  unsigned merge_at_;
};

}  // namespace kith::KITH_BACKEND::select
