// narrow_points.hpp: points of 16-bit floats or bytes that stay on the device as they are stored, in half or a quarter
// of the memory of floats. Idea    exact keys read them as they are (distance/key_group.cuh). Rows of fp16 are what
// tensor cores multiply, and so
//         are bytes: they are the operand, where they lie. Others are rounded to fp16 beside them. What needs floats,
//         norms for one, gets them a part at a time.
// Limits  rows are padded with zeros to whole vectors of 16 bytes.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "core/elements.hpp"
#include "cuda/points/byte_store.hpp"
#include "cuda/points/fp16_store.hpp"
#include "cuda/points/point_store.hpp"
#include "kith/matrix.hpp"

namespace kith::KITH_BACKEND::inline points {

template <class T>
inline constexpr bool kIsNarrow = core::kIs16BitFloat<T> || byte_type_of<T>() != ByteType::none;

// Thread-safe once prepare() is done.
template <Element T>
class NarrowPoints {
 public:
  // The caller writes the rows, stride() apart with zeros between them, before prepare().
  NarrowPoints(std::int64_t count, std::int64_t dims, const Metric& metric, bool bias, cudaStream_t stream);
  // Points of the device that can be used where they lie.
  NarrowPoints(const MatrixView<T>& lent, const Metric& metric, bool bias, cudaStream_t stream);
  static bool can_borrow(const MatrixView<T>& points);

  T* rows() { return own_.data(); }
  std::int64_t count() const { return count_; }
  std::int64_t dims() const { return dims_; }
  std::int64_t stride() const { return stride_; }

  // Norms and means of all points; calls see(part, first) with every part of them in floats.
  void prepare(const std::function<void(const PointStore<float>&, std::int64_t)>& see);
  // Without rows in working precision.
  const PointStore<float>& store() const { return *store_; }
  // Enqueues floats of points first … first + count − 1.
  void widen(std::int64_t first, std::int64_t count, float* to, cudaStream_t stream) const;

  // The same of so many points, at most count(), spread evenly over all.
  void widen_some(std::int64_t some, float* to, cudaStream_t stream) const;

  // Ready when they return.
  const Fp16Base& fp16() const;
  const Fp16Store& with_remainders() const;
  const ByteStore& bytes() const;

 private:
  const T* data() const { return lent_ == nullptr ? own_.data() : lent_; }
  std::int64_t part_rows() const;
  // Calls use(part, first) with parts of the points in floats, and waits at the end.
  void for_each_part(cudaStream_t stream, unsigned long long* max_squared_norm,
                     const std::function<void(const PointStore<float>&, std::int64_t)>& use) const;
  // In the frame that loses least.
  void make_fp16(std::optional<Fp16Base>& made, cudaStream_t stream) const;

  std::int64_t count_;
  std::int64_t dims_;
  std::int64_t stride_;
  Metric metric_;
  bool bias_;
  cudaStream_t stream_;
  DeviceBuffer<T> own_;
  const T* lent_ = nullptr;
  std::optional<PointStore<float>> store_;
  Stream making_;
  mutable MadeOnce<Fp16Base> fp16_;
  mutable MadeOnce<Fp16Store> split_;  // borrows from fp16_
  mutable MadeOnce<ByteStore> bytes_;
};

}  // namespace kith::KITH_BACKEND::inline points
