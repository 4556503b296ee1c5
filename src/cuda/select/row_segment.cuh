// row_segment.cuh: a stretch of a row as a warp or a block reads it, once and at full bandwidth.
// Elements are values of the matrix or keys that an earlier kernel left. A stretch answers a quick test on the raw
// element, which lets a key be built only for the few that may be wanted, and gives the key of any element.
#pragma once

#include "cuda/select/rows.cuh"

namespace kith::KITH_BACKEND::select {

// Columns first … first + length − 1 of a row of the matrix.
template <class T>
struct ValueSegment {
  using Element = T;
  using Key = KeyOf<T>;
  using Limit = T;

  const T* data;
  const unsigned* ids;
  unsigned first;
  unsigned length;
  bool largest;

  __device__ ValueSegment(const Rows<T>& rows, std::int64_t row, unsigned begin, unsigned end)
      : data(rows.row(row) + begin),
        ids(rows.ids == nullptr ? nullptr : rows.ids + row * rows.id_stride + begin),
        first(begin),
        length(end - begin),
        largest(rows.largest) {}

  __device__ __forceinline__ Key key(unsigned i) const {
    return make_key(ordered_bits(data[i], largest), ids == nullptr ? first + i : ids[i]);
  }

  // NaN as long as the threshold is a NaN's key or the last of all.
  __device__ __forceinline__ Limit limit(const Key& threshold) const { return value_of<T>(order_of(threshold), false); }

  // False only for what is above the threshold: ties are for the key to decide, and a NaN on either side passes.
  __device__ __forceinline__ bool may_pass(T value, T limit) const { return !((largest ? -value : value) > limit); }
};

// Keys as they lie; padding with the last key is allowed and never passes.
template <class K>
struct KeySegment {
  using Element = K;
  using Key = K;
  using Limit = K;

  const K* data;
  unsigned length;

  __device__ __forceinline__ K key(unsigned i) const { return data[i]; }
  __device__ __forceinline__ K limit(const K& threshold) const { return threshold; }
  __device__ __forceinline__ bool may_pass(const K& key, const K& threshold) const { return key < threshold; }
};

// The place of the lowest bit that is set.
__device__ __forceinline__ unsigned lowest_bit(unsigned bits) {
  return static_cast<unsigned>(__ffs(static_cast<int>(bits))) - 1;
}

// How kThreads threads read a stretch: batches of kVectors 16-byte vectors a thread between the first and the last
// 16-byte boundary; the few elements outside, the edges, are one each for the first threads. Nothing outside the
// stretch is touched.
template <class Stretch, unsigned kThreads, unsigned kVectors>
class BatchReader {
 public:
  using Element = typename Stretch::Element;
  static constexpr unsigned kPerVector = 16 / sizeof(Element);
  static constexpr unsigned kBatch = kThreads * kVectors;  // vectors

  struct alignas(16) Vector {
    Element elements[kPerVector];
  };
  struct Batch {
    Vector vectors[kVectors];
  };

  __device__ BatchReader(const Stretch& stretch, unsigned thread) : stretch_(stretch), thread_(thread) {
    const auto address = reinterpret_cast<std::uintptr_t>(stretch.data);
    const unsigned past_boundary = static_cast<unsigned>(address % 16 / sizeof(Element));
    head_ = past_boundary == 0 ? 0 : kPerVector - past_boundary;
    if (head_ > stretch.length) head_ = stretch.length;
    vectors_ = (stretch.length - head_) / kPerVector;
  }

  __device__ unsigned vectors() const { return vectors_; }

  // The batch that starts at vector `first`; what lies behind the last vector stays zero.
  __device__ __forceinline__ Batch load(unsigned first) const {
    const auto* body = reinterpret_cast<const Vector*>(stretch_.data + head_);
    Batch batch{};
    KITH_UNROLL
    for (unsigned v = 0; v < kVectors; ++v)
      if (has(first, v)) batch.vectors[v] = body[first + v * kThreads + thread_];
    return batch;
  }

  // The bit of the edge that this thread has to offer, if it has one; beyond those of test().
  __device__ unsigned edge() const { return thread_ < stretch_.length - vectors_ * kPerVector ? 1U << kEdgeBit : 0U; }

  // A bit for each element of the batch that may pass.
  __device__ __forceinline__ unsigned test(const Batch& batch, unsigned first, typename Stretch::Limit limit) const {
    unsigned wanted = 0;
    KITH_UNROLL
    for (unsigned v = 0; v < kVectors; ++v) {
      unsigned bits = 0;
      KITH_UNROLL
      for (unsigned e = 0; e < kPerVector; ++e)
        bits |= stretch_.may_pass(batch.vectors[v].elements[e], limit) ? 1U << e : 0U;
      if (has(first, v)) wanted |= bits << (v * kPerVector);
    }
    return wanted;
  }

  // The element that a bit of test() or edge() stands for.
  __device__ unsigned element(unsigned first, unsigned bit) const {
    if (bit == kEdgeBit) return thread_ < head_ ? thread_ : thread_ + vectors_ * kPerVector;
    const unsigned vector = first + bit / kPerVector * kThreads + thread_;
    return head_ + vector * kPerVector + bit % kPerVector;
  }

 private:
  static constexpr unsigned kEdgeBit = kVectors * kPerVector;
  static_assert(kEdgeBit < 32 && 2 * kPerVector <= kThreads);

  __device__ bool has(unsigned first, unsigned v) const { return first + v * kThreads + thread_ < vectors_; }

  const Stretch& stretch_;
  unsigned thread_;
  unsigned head_;
  unsigned vectors_;
};

}  // namespace kith::KITH_BACKEND::select
