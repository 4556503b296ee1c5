// near_list.cuh: the k nearest that a warp has found for its query, sorted, in shared memory.
// Newcomers wait until there are a warp's worth of them, or until an order is done; then they are sorted by a bitonic
// network, one a lane, and every lane finds the place of its newcomer by binary search, as Li et al. do (3.3). What
// stands behind moves up, from the end, by as many places as newcomers come before it: a list of any length needs no
// second copy, and what stands before the first newcomer is not touched.
// A point that is offered again has the same key as before, so the same search tells that it is in the list; where it
// is not, it was pushed out and its key is not below the k-th.
#pragma once

#include "cuda/primitives/bitonic.cuh"

namespace kith::KITH_BACKEND::shifted_sort {

// The number of keys less than `key` in a sorted list; `steps` is the largest power of two ≤ k.
template <class K>
__device__ __forceinline__ unsigned keys_less(const K* list, unsigned k, unsigned steps, const K& key) {
  unsigned less = 0;
  for (unsigned step = steps; step > 0; step /= 2)
    if (less + step <= k && list[less + step - 1] < key) less += step;
  return less;
}

// All lanes of a warp make one and call its functions together.
template <class K>
class NearList {
 public:
  static constexpr unsigned kWaiting = 2 * kWarp;  // newcomers there is room for

  // Shared memory of a warp.
  __host__ __device__ static constexpr unsigned room(unsigned k) { return k + kWaiting; }

  __device__ NearList(K* shared, unsigned k)
      : list_(shared), waiting_(shared + k), k_(k), steps_(1U << (bit_width(k) - 1)) {
    for (unsigned i = lane_id(); i < k; i += kWarp) list_[i] = last_key<K>();
    __syncwarp();
  }

  // Each lane's key, if it is `valid`. `seen`: it may be one that was offered before the last settle().
  __device__ __forceinline__ void offer(const K& key, bool valid, bool seen) {
    bool wanted = valid && key < kth_;
    if (seen && wanted) {
      const unsigned less = keys_less(list_, k_, steps_, key);
      wanted = !(list_[less] == key);  // below the k-th, so there is such an element
    }
    const unsigned lanes = __ballot_sync(kFullMask, wanted ? 1 : 0);
    if (lanes == 0) return;
    if (wanted) waiting_[count_ + static_cast<unsigned>(__popc(lanes & ((1U << lane_id()) - 1)))] = key;
    count_ += static_cast<unsigned>(__popc(lanes));
    __syncwarp();
    if (count_ < kWarp) return;
    merge(waiting_[lane_id()], kWarp);
    count_ -= kWarp;
    const K rest = lane_id() < count_ ? waiting_[kWarp + lane_id()] : last_key<K>();
    __syncwarp();
    if (lane_id() < count_) waiting_[lane_id()] = rest;
    __syncwarp();
  }

  // Nobody waits any more.
  __device__ void settle() {
    if (count_ > 0) merge(lane_id() < count_ ? waiting_[lane_id()] : last_key<K>(), count_);
    count_ = 0;
    __syncwarp();
  }

  __device__ K* keys() { return list_; }

 private:
  // One newcomer a lane, `count` of them, in any order.
  __device__ void merge(K key, unsigned count) {
    K items[1] = {key};
    Bitonic<K, kWarp, 1>::sort(items, nullptr);
    const bool is_one = lane_id() < count;
    const unsigned place = is_one ? keys_less(list_, k_, steps_, items[0]) : k_;
    const unsigned first = __shfl_sync(kFullMask, place, 0);
    if (first < k_) {
      move_up(place, first);
      if (is_one && place + lane_id() < k_) list_[place + lane_id()] = items[0];
    }
    __syncwarp();
    kth_ = list_[k_ - 1];
  }

  // Makes room at the newcomers' places, which ascend over the lanes from `first`.
  __device__ void move_up(unsigned place, unsigned first) {
    for (unsigned start = (k_ - 1) / kWarp * kWarp;; start -= kWarp) {
      const unsigned i = start + lane_id();
      const K key = i < k_ ? list_[i] : last_key<K>();
      const unsigned by = lanes_up_to(place, i);
      __syncwarp();
      if (by > 0 && i + by < k_) list_[i + by] = key;
      __syncwarp();
      if (start <= first) return;
    }
  }

  // How many lanes have a place ≤ i.
  __device__ static unsigned lanes_up_to(unsigned place, unsigned i) {
    unsigned lanes = 0;
    KITH_UNROLL
    for (unsigned step = kWarp / 2; step > 0; step /= 2)
      if (__shfl_sync(kFullMask, place, static_cast<int>(lanes + step - 1)) <= i) lanes += step;
    return lanes + (__shfl_sync(kFullMask, place, static_cast<int>(lanes)) <= i ? 1U : 0U);
  }

  K* list_;
  K* waiting_;
  unsigned k_;
  unsigned steps_;
  unsigned count_ = 0;  // of those who wait
  K kth_ = last_key<K>();
};

}  // namespace kith::KITH_BACKEND::shifted_sort
