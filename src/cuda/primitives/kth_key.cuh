// kth_key.cuh: a bound that exactly the k smallest of a set of keys do not exceed, by a block.
// Radix selection that reads the keys again in every pass. Digits are taken from key − smallest value, from the highest
// bit in which the set differs, so that neither a common exponent nor a common value wastes a pass (Hanák, 3.7.2). Keys
// are unique, so the search ends; it ends early when all keys of a digit are among the k smallest.
// Cost: a pass for the smallest and largest key, then a pass per digit of 8 bits; for random keys 2 or 3.
#pragma once

#include "cuda/primitives/block.cuh"
#include "cuda/primitives/key.cuh"

namespace kith::KITH_BACKEND::inline primitives {

__extension__ using WideBits = unsigned __int128;

__device__ __forceinline__ unsigned long long key_bits(PackedKey key) {
  return key;
}

__device__ __forceinline__ WideBits key_bits(const WideKey& key) {
  return static_cast<WideBits>(key.order) << 32U | key.id;
}

__device__ __forceinline__ PackedKey key_from_bits(unsigned long long bits, PackedKey /*type*/) {
  return bits;
}

__device__ __forceinline__ WideKey key_from_bits(WideBits bits, const WideKey& /*type*/) {
  return {static_cast<unsigned long long>(bits >> 32U), static_cast<unsigned>(bits), 0U};
}

__device__ __forceinline__ unsigned bit_width(WideBits bits) {
  const auto high = static_cast<unsigned long long>(bits >> 64U);
  return high != 0 ? 64U + bit_width(high) : bit_width(static_cast<unsigned long long>(bits));
}

// The next larger key.
template <class K>
__device__ __forceinline__ K next_key(const K& key) {
  return key_from_bits(key_bits(key) + 1, K{});
}

constexpr unsigned kKthDigitBits = 8;
constexpr unsigned kKthDigits = 1U << kKthDigitBits;

template <class K, unsigned kThreads>
struct KthScratch {
  K smallest[kThreads / kWarp];
  K largest[kThreads / kWarp];
  unsigned counts[kKthDigits];
  unsigned digit;
  unsigned wanted;
  unsigned found;
};

template <class K>
struct KeyRange {
  K smallest;
  K largest;

  __device__ void include(const K& low, const K& high) {
    if (low < smallest) smallest = low;
    if (largest < high) largest = high;
  }
  // Leaves the range of all lanes in every lane.
  __device__ void combine() {
    for (unsigned step = kWarp / 2; step > 0; step /= 2)
      include(shuffle_xor(smallest, step), shuffle_xor(largest, step));
  }
};

// The smallest and the largest of source(0 … count − 1), in every thread. Contains a barrier.
template <unsigned kThreads, class K, class Source>
__device__ KeyRange<K> key_range(const Source& source, unsigned count, KthScratch<K, kThreads>& scratch) {
  KeyRange<K> range{last_key<K>(), K{}};
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < count; i += kThreads) {
    const K key = source(i);
    range.include(key, key);
  }
  range.combine();
  if (lane_id() == 0) {
    scratch.smallest[warp_id()] = range.smallest;
    scratch.largest[warp_id()] = range.largest;
  }
  __syncthreads();
  const unsigned warp = lane_id() % (kThreads / kWarp);
  range = {scratch.smallest[warp], scratch.largest[warp]};
  range.combine();
  return range;
}

// Finds the digit of the key of rank `wanted` from the counts of all digits, by one warp.
template <class K, unsigned kThreads>
__device__ void find_digit(unsigned wanted, KthScratch<K, kThreads>& scratch) {
  constexpr unsigned kEach = kKthDigits / kWarp;
  unsigned counts[kEach];
  unsigned mine = 0;
  KITH_UNROLL
  for (unsigned i = 0; i < kEach; ++i) mine += counts[i] = scratch.counts[lane_id() * kEach + i];
  unsigned before = warp_inclusive_sum(mine) - mine;
  KITH_UNROLL
  for (unsigned i = 0; i < kEach; ++i) {
    if (before < wanted && wanted <= before + counts[i]) {
      scratch.digit = lane_id() * kEach + i;
      scratch.wanted = wanted - before;
      scratch.found = counts[i];
    }
    before += counts[i];
  }
}

// Returns a bound that exactly k of source(0 … count − 1) do not exceed; 1 ≤ k ≤ count, and `range` is that of the
// keys. Must be called by all threads of the block, which are kThreads. Ends with a barrier.
template <unsigned kThreads, class K, class Source>
__device__ K kth_key_bound(const Source& source, unsigned count, unsigned k, const KeyRange<K>& range,
                           KthScratch<K, kThreads>& scratch) {
  using Bits = decltype(key_bits(K{}));
  if (k == count) {
    __syncthreads();
    return range.largest;
  }
  const Bits base = key_bits(make_key(order_of(range.smallest), 0U));
  unsigned shift = bit_width(static_cast<Bits>(key_bits(range.largest) - base));  // undecided bits
  Bits prefix = 0;                                                                // of key − base, above them
  unsigned wanted = k;
  unsigned inside = count;
  while (wanted != inside && shift > 0) {
    const unsigned next = shift > kKthDigitBits ? shift - kKthDigitBits : 0;
    const unsigned width = shift - next;
    for (unsigned d = threadIdx.x; d < kKthDigits; d += kThreads) scratch.counts[d] = 0;
    __syncthreads();
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < count; i += kThreads) {
      const Bits bits = key_bits(source(i)) - base;
      // A shift by the whole width of the type is undefined, so the prefix is compared in two steps.
      if ((bits >> next) >> width == prefix)
        atomicAdd(&scratch.counts[static_cast<unsigned>(bits >> next) & ((1U << width) - 1)], 1U);
    }
    __syncthreads();
    if (warp_id() == 0) find_digit(wanted, scratch);
    __syncthreads();
    prefix = prefix << width | scratch.digit;
    wanted = scratch.wanted;
    inside = scratch.found;
    shift = next;
  }
  __syncthreads();
  const Bits bound = ((prefix + 1) << shift) - 1;
  return bound < key_bits(range.largest) - base ? key_from_bits(base + bound, K{}) : range.largest;
}

template <unsigned kThreads, class K, class Source>
__device__ K kth_key_bound(const Source& source, unsigned count, unsigned k, KthScratch<K, kThreads>& scratch) {
  return kth_key_bound<kThreads, K>(source, count, k, key_range<kThreads, K>(source, count, scratch), scratch);
}

}  // namespace kith::KITH_BACKEND::inline primitives
