// labeled_key.cuh: a key with its segment, so that segments may have any length and be interleaved.
#pragma once

#include "cuda/primitives/key.cuh"

namespace kith::KITH_BACKEND::inline primitives {

template <class Order>
struct LabeledKey {
  Order order;
  unsigned id;
  unsigned segment;

  // By (segment, order, id).
  __host__ __device__ friend bool operator<(const LabeledKey& a, const LabeledKey& b) {
    if (a.segment != b.segment) return a.segment < b.segment;
    return a.order < b.order || (a.order == b.order && a.id < b.id);
  }
};

template <>
__host__ __device__ __forceinline__ LabeledKey<unsigned> last_key<LabeledKey<unsigned>>() {
  return {~0U, ~0U, ~0U};
}

template <>
__host__ __device__ __forceinline__ LabeledKey<unsigned long long> last_key<LabeledKey<unsigned long long>>() {
  return {~0ULL, ~0U, ~0U};
}

template <class Order>
__device__ __forceinline__ LabeledKey<Order> shuffle_xor(const LabeledKey<Order>& key, unsigned lane_mask) {
  const auto mask = static_cast<int>(lane_mask);
  return {__shfl_xor_sync(kFullMask, key.order, mask), __shfl_xor_sync(kFullMask, key.id, mask),
          __shfl_xor_sync(kFullMask, key.segment, mask)};
}

}  // namespace kith::KITH_BACKEND::inline primitives
