// radix_select.cuh: the k first keys of a row by one block, with radix digits as the buckets of bucket_select.cuh.
// Hanák, 3.7.2. The digit is taken from the distance to the smallest value that the set can hold, just below the
// highest bit in which the set can differ: counting also finds the smallest and largest value of the set, so leading
// bits that all values share are skipped. When one value is left, the digits of the ids follow. Cost: a row of n random
// values is read three times, and never more than seven times for float, ten for double.
#pragma once

#include "cuda/select/bucket_select.cuh"

namespace kith::KITH_BACKEND {

template <class T, unsigned kThreads>
class RadixBuckets {
 public:
  using Key = KeyOf<T>;
  using Order = OrderOf<T>;
  static constexpr unsigned kDigitBits = 11;
  static constexpr unsigned kBuckets = 1U << kDigitBits;
  static constexpr bool kFromSource = false;

  struct Shared {
    Order least[kThreads / kWarp];  // of the values, or ids, that each warp has seen
    Order most[kThreads / kWarp];
  };

  template <class Scratch>
  __device__ RadixBuckets(const KeySource<T>& /*source*/, const Cut<Key>& cut, unsigned /*round*/, Scratch& scratch)
      : shared_(scratch.buckets),
        by_id_(order_of(cut.low) == order_of(cut.end)),
        first_(by_id_ ? id_of(cut.low) : order_of(cut.low)) {
    const Order last = by_id_ ? id_of(cut.end) - 1 : order_of(cut.end);
    const unsigned bits = bit_width(last - first_);
    shift_ = bits > kDigitBits ? bits - kDigitBits : 0;
  }

  __device__ unsigned bucket(const Key& key) const {
    return static_cast<unsigned>((coordinate(key) - first_) >> shift_);
  }

  __device__ void see(const Key& key) {
    least_ = min(least_, coordinate(key));
    most_ = max(most_, coordinate(key));
  }

  __device__ void counted() {
    for (unsigned mask = kWarp / 2; mask > 0; mask /= 2) {
      least_ = min(least_, __shfl_xor_sync(kFullMask, least_, static_cast<int>(mask)));
      most_ = max(most_, __shfl_xor_sync(kFullMask, most_, static_cast<int>(mask)));
    }
    if (lane_id() == 0) {
      shared_.least[warp_id()] = least_;
      shared_.most[warp_id()] = most_;
    }
    __syncthreads();
  }

  // What the digit says, or what has been seen, whichever is narrower.
  __device__ Cut<Key> part(const Cut<Key>& cut, unsigned bucket) const {
    Order least = shared_.least[0];
    Order most = shared_.most[0];
    for (unsigned w = 1; w < kThreads / kWarp; ++w) {
      least = min(least, shared_.least[w]);
      most = max(most, shared_.most[w]);
    }
    Order low = first_ + (static_cast<Order>(bucket) << shift_);
    const Order reach = (Order{1} << shift_) - 1;
    const Order high = most - low < reach ? most : low + reach;
    low = max(low, least);
    Cut<Key> narrowed = cut;
    narrowed.low = by_id_ ? make_key(order_of(cut.low), static_cast<unsigned>(low)) : make_key(low, 0U);
    narrowed.end = by_id_ ? make_key(order_of(cut.low), static_cast<unsigned>(high) + 1) : make_key(high, ~0U);
    return narrowed;
  }

 private:
  __device__ static unsigned bit_width(unsigned bits) {
    return 32 - static_cast<unsigned>(__clz(static_cast<int>(bits)));
  }
  __device__ static unsigned bit_width(unsigned long long bits) {
    return 64 - static_cast<unsigned>(__clzll(static_cast<long long>(bits)));
  }

  __device__ Order coordinate(const Key& key) const { return by_id_ ? id_of(key) : order_of(key); }

  Shared& shared_;
  bool by_id_;
  Order first_;
  unsigned shift_;
  Order least_ = ~Order{0};
  Order most_ = 0;
};

template <class T, unsigned kThreads>
using RadixSelect = BucketSelect<T, RadixBuckets<T, kThreads>, kThreads>;

// Writes the k first keys of the row to out_keys, in any order. Run by a block of kThreads threads, all of which call;
// ends with a barrier. Reads nothing but the row; `scratch` is one RadixScratch<T, kThreads> in shared memory, which is
// free to be used for something else before and after.
template <class T, unsigned kThreads>
using RadixScratch = typename RadixSelect<T, kThreads>::Scratch;

template <class T, unsigned kThreads>
__device__ void radix_select_row(const Rows<T>& rows, std::int64_t row, unsigned k, KeyOf<T>* out_keys,
                                 RadixScratch<T, kThreads>& scratch) {
  RadixSelect<T, kThreads>(rows, row, nullptr, 0, scratch).in_one_stage(k, out_keys);
}

}  // namespace kith::KITH_BACKEND
