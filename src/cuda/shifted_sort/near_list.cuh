// near_list.cuh: the k nearest that a warp has found for its query, sorted, in shared memory.
// Idea    newcomers are pending until a warp is full of them, or until an order is done; then a bitonic network sorts
//         them, one a lane, and every lane finds the position of its newcomer by binary search (Li et al., 3.3). Keys
//         behind it move up, from the end, by as many slots as newcomers come before them: in place, and keys before
//         the first newcomer are not touched.
// Ties    a point that is offered again has the same key as before, so a binary search finds it in the list; if it is
//         not there, it was pushed out, and its key is not below the k-th.
#pragma once

#include "cuda/primitives/bitonic.cuh"

namespace kith::KITH_BACKEND::shifted_sort {

// The number of keys less than `key` in a sorted list of k; `largest_step` is the largest power of two ≤ k.
template <class K>
__device__ __forceinline__ unsigned count_keys_less(const K* list, unsigned k, unsigned largest_step, const K& key) {
  unsigned less = 0;
  for (unsigned step = largest_step; step > 0; step /= 2)
    if (less + step <= k && list[less + step - 1] < key) less += step;
  return less;
}

// All lanes of a warp construct one and must call its functions.
template <class K>
class NearList {
 public:
  static constexpr unsigned kMaxPending = 2 * kWarp;

  // Keys of shared memory that a list of k takes.
  __host__ __device__ static constexpr unsigned capacity(unsigned k) { return k + kMaxPending; }

  __device__ NearList(K* shared, unsigned k)
      : list_(shared), pending_(shared + k), k_(k), largest_step_(1U << (bit_width(k) - 1)) {
    for (unsigned i = lane_id(); i < k; i += kWarp) list_[i] = last_key<K>();
    __syncwarp();
  }

  // Takes each lane's key, if it is `valid`. `seen`: it may have been offered before the last merge_pending().
  __device__ __forceinline__ void offer(const K& key, bool valid, bool seen) {
    bool wanted = valid && key < kth_;
    if (seen && wanted) {
      const unsigned less = count_keys_less(list_, k_, largest_step_, key);
      wanted = !(list_[less] == key);  // key is below the k-th, so list_[less] exists
    }
    const unsigned lanes = __ballot_sync(kFullMask, wanted ? 1 : 0);
    if (lanes == 0) return;
    if (wanted) pending_[pending_count_ + static_cast<unsigned>(__popc(lanes & ((1U << lane_id()) - 1)))] = key;
    pending_count_ += static_cast<unsigned>(__popc(lanes));
    __syncwarp();
    if (pending_count_ < kWarp) return;
    merge(pending_[lane_id()], kWarp);
    pending_count_ -= kWarp;
    const K rest = lane_id() < pending_count_ ? pending_[kWarp + lane_id()] : last_key<K>();
    __syncwarp();
    if (lane_id() < pending_count_) pending_[lane_id()] = rest;
    __syncwarp();
  }

  // Must be called at the end of each order.
  __device__ void merge_pending() {
    if (pending_count_ > 0) merge(lane_id() < pending_count_ ? pending_[lane_id()] : last_key<K>(), pending_count_);
    pending_count_ = 0;
    __syncwarp();
  }

  __device__ K* keys() { return list_; }

 private:
  // Merges one newcomer a lane, `count` of them, in any order.
  __device__ void merge(K key, unsigned count) {
    K items[1] = {key};
    Bitonic<K, kWarp, 1>::sort(items, nullptr);
    const bool is_newcomer = lane_id() < count;
    const unsigned position = is_newcomer ? count_keys_less(list_, k_, largest_step_, items[0]) : k_;
    const unsigned first = __shfl_sync(kFullMask, position, 0);
    if (first < k_) {
      move_up(position, first);
      if (is_newcomer && position + lane_id() < k_) list_[position + lane_id()] = items[0];
    }
    __syncwarp();
    kth_ = list_[k_ - 1];
  }

  // Moves keys up from the newcomers' positions on, which ascend over the lanes from `first`.
  __device__ void move_up(unsigned position, unsigned first) {
    for (unsigned start = (k_ - 1) / kWarp * kWarp;; start -= kWarp) {
      const unsigned i = start + lane_id();
      const K key = i < k_ ? list_[i] : last_key<K>();
      const unsigned by = lanes_up_to(position, i);
      __syncwarp();
      if (by > 0 && i + by < k_) list_[i + by] = key;
      __syncwarp();
      if (start <= first) return;
    }
  }

  // How many lanes have a position ≤ i.
  __device__ static unsigned lanes_up_to(unsigned position, unsigned i) {
    unsigned lanes = 0;
    KITH_UNROLL
    for (unsigned step = kWarp / 2; step > 0; step /= 2)
      if (__shfl_sync(kFullMask, position, static_cast<int>(lanes + step - 1)) <= i) lanes += step;
    return lanes + (__shfl_sync(kFullMask, position, static_cast<int>(lanes)) <= i ? 1U : 0U);
  }

  K* list_;
  K* pending_;
  unsigned k_;
  unsigned largest_step_;
  unsigned pending_count_ = 0;
  K kth_ = last_key<K>();
};

}  // namespace kith::KITH_BACKEND::shifted_sort
