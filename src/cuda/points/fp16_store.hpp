// fp16_store.hpp: points of a search rounded to fp16 (fp16_rows.hpp); a PointStore has their exact rows.
#pragma once

#include <optional>
#include <utility>

#include "cuda/points/fp16_rows.hpp"
#include "cuda/runtime/made_once.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::inline points {

// Center and scale that a base and its queries share: x is stored as fp16(scale · (x − center)).
struct Fp16Frame {
  DeviceBuffer<float> center;  // empty: none
  double scale = 1;
  bool is_finite = true;  // else rows of the base are not, and scores may be no numbers
};

// The frame of a base, or of a part of it: points farther out than these saturate, for which their norms account.
// `centered` is for squares only: products change with the center. Waits for the stream.
Fp16Frame make_fp16_frame(const PointRows<float>& rows, std::int64_t dims, bool centered, cudaStream_t stream);

// The largest Fp16Norms, as the bits of doubles.
struct Fp16MaxNorms {
  unsigned long long exact = 0;
  unsigned long long rounded = 0;
  unsigned long long lost = 0;
  unsigned long long remainder = 0;
  unsigned long long split_lost = 0;
};

class Fp16Store {
 public:
  // Allocates `capacity` points. `bias`: squared norms of the centered points too. Stores that share a set of points
  // may share max_norms. `remainders`: what rounding leaves too, in as much memory again.
  Fp16Store(std::int64_t capacity, std::int64_t dims, bool bias, cudaStream_t stream, Fp16MaxNorms* max_norms = nullptr,
            bool remainders = false);
  // A base whose rows come in parts and whose norms are not kept but for the largest. `lent`: rows that are fp16 as
  // they lie, fp16_stride(dims) apart, for a frame that changes nothing.
  Fp16Store(std::int64_t count, std::int64_t dims, bool bias, const Fp16Frame& frame, Fp16* lent, cudaStream_t stream);
  // The points of `rounded`, which lends all but the remainders; round_remainders() is left to do.
  Fp16Store(const Fp16Store& rounded, cudaStream_t stream);
  // The same, done; `rows` and `frame` are those that `rounded` was prepared with.
  Fp16Store(const Fp16Store& rounded, const PointRows<float>& rows, const Fp16Frame& frame, cudaStream_t stream);

  // Rounds all points of `rows`, at most as many as the capacity; queries need no more.
  void round(const PointRows<float>& rows, const Fp16Frame& frame);
  // The same, and finds the largest norms.
  void prepare(const PointRows<float>& rows, const Fp16Frame& frame);
  // The same of a part of a base: its points from `first` on. `norms`: scratch for as many.
  void prepare_part(const PointRows<float>& rows, std::int64_t first, const Fp16Frame& frame, core::Fp16Norms* norms);
  void round_remainders(const PointRows<float>& rows, std::int64_t first, const Fp16Frame& frame);

  // Points first … first + count − 1.
  Fp16Rows rows(std::int64_t first, std::int64_t count) const { return rows_.part(first, count); }
  // Null unless the constructor asked for it.
  const float* bias(std::int64_t first) const { return bias_ == nullptr ? nullptr : bias_ + first; }
  // The largest norms of all points prepared so far, on the device; null before.
  const Fp16MaxNorms* max_norms() const { return max_norms_; }

 private:
  void begin_max_norms();

  std::int64_t dims_;
  cudaStream_t stream_;
  bool lends_ = false;  // the rows are someone else's
  DeviceBuffer<Fp16> fp16_;
  DeviceBuffer<Fp16> remainders_;
  DeviceBuffer<core::Fp16Norms> norms_;
  DeviceBuffer<float> own_bias_;
  const float* bias_ = nullptr;
  DeviceBuffer<Fp16MaxNorms> own_max_norms_;
  Fp16MaxNorms* max_norms_ = nullptr;
  Fp16Rows rows_;
};

// A base all of which is on the device, in fp16.
struct Fp16Base {
  // `squares`: for form squared, else for products.
  Fp16Base(const PointRows<float>& rows, std::int64_t dims, bool squares, cudaStream_t stream)
      : frame(make_fp16_frame(rows, dims, squares, stream)), store(rows.count, dims, squares, stream) {
    store.prepare(rows, frame);
  }
  // Of points that come in parts.
  Fp16Base(Fp16Frame frame_, std::int64_t count, std::int64_t dims, bool squares, Fp16* lent, cudaStream_t stream)
      : frame(std::move(frame_)), store(count, dims, squares, frame, lent, stream) {}

  Fp16Frame frame;
  Fp16Store store;
};

// The base of an index in fp16, made by the first search that needs it; remainders by the first that needs them.
// Thread-safe.
class CachedFp16 {
 public:
  // Ready when this returns. The points, which are on the device already, must be the same at every call.
  const Fp16Base& get(const PointRows<float>& rows, std::int64_t dims, bool squares) {
    return base_.get([&](std::optional<Fp16Base>& made) {
      made.emplace(rows, dims, squares, stream_);
      stream_.synchronize();
    });
  }

  // The same points with remainders, in the frame of get().
  const Fp16Store& with_remainders(const PointRows<float>& rows, std::int64_t dims, bool squares) {
    const Fp16Base& base = get(rows, dims, squares);
    return split_.get([&](std::optional<Fp16Store>& made) {
      made.emplace(base.store, rows, base.frame, stream_);
      stream_.synchronize();
    });
  }

 private:
  Stream stream_;
  MadeOnce<Fp16Base> base_;
  MadeOnce<Fp16Store> split_;  // borrows from base_
};

// Only floats are rounded to fp16; no plan asks for that of doubles.
inline PointRows<float> as_floats(const PointRows<float>& rows) {
  return rows;
}
[[noreturn]] inline PointRows<float> as_floats(const PointRows<double>&) {
  throw Error(ErrorCode::internal, "doubles are not rounded to fp16");
}

}  // namespace kith::KITH_BACKEND::inline points
