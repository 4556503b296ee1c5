// row_segment.cuh: a segment of a row, and how a warp or a block reads it, once and at full bandwidth.
// Elements are values of the matrix or keys of an earlier kernel. A segment has a quick test of raw elements, so that
// keys are built only for the few that may be below the threshold.
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

  // The limit for may_pass; NaN if the threshold is the key of a NaN or last_key().
  __device__ __forceinline__ Limit limit(const Key& threshold) const { return value_of<T>(order_of(threshold), false); }

  // False only for values above the threshold: ties are decided by the key, and a NaN on either side passes.
  __device__ __forceinline__ bool may_pass(T value, T limit) const { return !((largest ? -value : value) > limit); }
};

// Keys in memory; padding with last_key() is allowed and never passes.
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

// The index of the lowest set bit.
__device__ __forceinline__ unsigned lowest_bit(unsigned bits) {
  return static_cast<unsigned>(__ffs(static_cast<int>(bits))) - 1;
}

// Reads a segment by kThreads threads: batches of kVectors 16-byte vectors per thread between the first and the last
// 16-byte boundary; the few elements outside, the edges, go to the first threads. Nothing outside the segment is read.
template <class Segment, unsigned kThreads, unsigned kVectors>
class BatchReader {
 public:
  using Element = typename Segment::Element;
  static constexpr unsigned kPerVector = 16 / sizeof(Element);
  static constexpr unsigned kBatch = kThreads * kVectors;  // vectors

  struct alignas(16) Vector {
    Element elements[kPerVector];
  };
  struct Batch {
    Vector vectors[kVectors];
  };

  __device__ BatchReader(const Segment& segment, unsigned thread) : segment_(segment), thread_(thread) {
    const auto address = reinterpret_cast<std::uintptr_t>(segment.data);
    const unsigned past_boundary = static_cast<unsigned>(address % 16 / sizeof(Element));
    head_ = past_boundary == 0 ? 0 : kPerVector - past_boundary;
    if (head_ > segment.length) head_ = segment.length;
    vectors_ = (segment.length - head_) / kPerVector;
  }

  __device__ unsigned vectors() const { return vectors_; }

  // The batch that starts at vector `first`; vectors past the end are zero.
  __device__ __forceinline__ Batch load(unsigned first) const {
    const auto* body = reinterpret_cast<const Vector*>(segment_.data + head_);
    Batch batch{};
    KITH_UNROLL
    for (unsigned v = 0; v < kVectors; ++v)
      if (has(first, v)) batch.vectors[v] = body[first + v * kThreads + thread_];
    return batch;
  }

  // The bit of this thread's edge element, above those of test(); 0 if it has none.
  __device__ unsigned edge() const { return thread_ < segment_.length - vectors_ * kPerVector ? 1U << kEdgeBit : 0U; }

  // One bit for each element of the batch, set if it may pass.
  __device__ __forceinline__ unsigned test(const Batch& batch, unsigned first, typename Segment::Limit limit) const {
    unsigned wanted = 0;
    KITH_UNROLL
    for (unsigned v = 0; v < kVectors; ++v) {
      unsigned bits = 0;
      KITH_UNROLL
      for (unsigned e = 0; e < kPerVector; ++e)
        bits |= segment_.may_pass(batch.vectors[v].elements[e], limit) ? 1U << e : 0U;
      if (has(first, v)) wanted |= bits << (v * kPerVector);
    }
    return wanted;
  }

  // The element of a bit of test() or edge().
  __device__ unsigned element(unsigned first, unsigned bit) const {
    if (bit == kEdgeBit) return thread_ < head_ ? thread_ : thread_ + vectors_ * kPerVector;
    const unsigned vector = first + bit / kPerVector * kThreads + thread_;
    return head_ + vector * kPerVector + bit % kPerVector;
  }

 private:
  static constexpr unsigned kEdgeBit = kVectors * kPerVector;
  static_assert(kEdgeBit < 32 && 2 * kPerVector <= kThreads);

  __device__ bool has(unsigned first, unsigned v) const { return first + v * kThreads + thread_ < vectors_; }

  const Segment& segment_;
  unsigned thread_;
  unsigned head_;
  unsigned vectors_;
};

}  // namespace kith::KITH_BACKEND::select
