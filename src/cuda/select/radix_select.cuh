// radix_select.cuh: the k smallest keys of a row by one block, with radix digits as buckets (Hanák, 3.7.2).
// The digits are rescaled in every round of bucket_select.cuh: a sample of the set gives a smallest and a largest
// value, and the digit is taken from the difference to the smallest, below the highest bit in which the two differ;
// values outside have a bucket on either side. Leading bits that all values have in common thus cost nothing. When all
// values of the set are equal, digits of the ids follow. Cost: a row of random values is read three times without an
// auxiliary array, twice with one.
#pragma once

#include "cuda/primitives/random.cuh"
#include "cuda/select/bucket_select.cuh"

namespace kith::KITH_BACKEND::select {

template <class T, unsigned kThreads>
class RadixBuckets {
 public:
  using Key = KeyOf<T>;
  using Order = OrderOf<T>;
  static constexpr unsigned kDigitBits = 11;
  static constexpr unsigned kBuckets = (1U << kDigitBits) + 2;
  static constexpr bool kFromSource = false;

  struct Shared {
    Order smallest[kThreads / kWarp];  // of each warp's samples
    Order largest[kThreads / kWarp];
  };

  template <class Scratch>
  __device__ RadixBuckets(const RowKeySource<T>& source, const Cut<Key>& cut, unsigned round, Scratch& scratch)
      : order_(order_of(cut.low)), by_id_(order_of(cut.low) == order_of(cut.end)) {
    first_ = coordinate(cut.low);
    last_ = by_id_ ? id_of(cut.end) - 1 : order_of(cut.end);
    if (source.count == cut.count) {
      const unsigned seed = random_bits(static_cast<unsigned>(source.row), round);
      find_range(coordinate(source.key(sample_position(source.count, kThreads, threadIdx.x, seed))), scratch.buckets);
    }
    const unsigned bits = bit_width(last_ - first_);
    shift_ = bits > kDigitBits ? bits - kDigitBits : 0;
  }

  __device__ unsigned bucket(const Key& key) const {
    const Order at = coordinate(key);
    if (at < first_) return 0;
    if (at > last_) return kBuckets - 1;
    return 1 + static_cast<unsigned>((at - first_) >> shift_);
  }

  __device__ Cut<Key> part(const Cut<Key>& cut, unsigned bucket) const {
    Cut<Key> narrowed = cut;
    if (bucket == 0) {
      narrowed.end = end_after(first_ - 1);
    } else if (bucket == kBuckets - 1) {
      narrowed.low = start_at(last_ + 1);
    } else {
      const Order low = first_ + (static_cast<Order>(bucket - 1) << shift_);
      const Order width = (Order{1} << shift_) - 1;
      narrowed.low = start_at(low);
      narrowed.end = end_after(last_ - low < width ? last_ : low + width);
    }
    return narrowed;
  }

 private:
  // The number that digits are taken from: the value, or the id if all values of the set are equal.
  __device__ Order coordinate(const Key& key) const { return by_id_ ? id_of(key) : order_of(key); }

  // The first key with a coordinate, and a bound above the last one; no id is ~0.
  __device__ Key start_at(Order at) const {
    return by_id_ ? make_key(order_, static_cast<unsigned>(at)) : make_key(at, 0U);
  }
  __device__ Key end_after(Order at) const {
    return by_id_ ? make_key(order_, static_cast<unsigned>(at) + 1) : make_key(at, ~0U);
  }

  // Sets first_ and last_ to the smallest and largest of the threads' samples. Contains a barrier.
  __device__ void find_range(Order drawn, Shared& shared) {
    first_ = last_ = drawn;
    for (unsigned mask = kWarp / 2; mask > 0; mask /= 2) {
      first_ = min(first_, __shfl_xor_sync(kFullMask, first_, static_cast<int>(mask)));
      last_ = max(last_, __shfl_xor_sync(kFullMask, last_, static_cast<int>(mask)));
    }
    if (lane_id() == 0) {
      shared.smallest[warp_id()] = first_;
      shared.largest[warp_id()] = last_;
    }
    __syncthreads();
    for (unsigned w = 0; w < kThreads / kWarp; ++w) {
      first_ = min(first_, shared.smallest[w]);
      last_ = max(last_, shared.largest[w]);
    }
  }

  Order order_;  // of all keys, if by_id_
  bool by_id_;
  Order first_;
  Order last_;
  unsigned shift_;
};

template <class T, unsigned kThreads>
using RadixSelect = BucketSelect<T, RadixBuckets<T, kThreads>, kThreads>;

}  // namespace kith::KITH_BACKEND::select
