// fp16_store.hpp: points of a search rounded to half precision (distance/fp16_rows.hpp), beside the PointStore that has
// their exact rows.
#pragma once

#include <mutex>
#include <optional>

#include "cuda/points/fp16_rows.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::inline points {

// What the fp16 of a base and of its queries share: x is kept as fp16(scale · (x − center)).
struct Fp16Frame {
  DeviceBuffer<float> center;  // empty: none
  double scale = 1;
};

// From a base, or from some of it: points farther out than these saturate, which their norms tell. `centered` is for
// squares only: products change with the center. Waits for the stream.
Fp16Frame make_fp16_frame(const PointRows<float>& rows, std::int64_t dims, bool centered, cudaStream_t stream);

// The largest of Fp16Norms, as the bits of doubles.
struct Fp16MaxNorms {
  unsigned long long exact = 0;
  unsigned long long rounded = 0;
  unsigned long long lost = 0;
};

class Fp16Store {
 public:
  // Room for so many points. `bias`: squares of lengths less the center. Stores that share a set of points may share
  // the place of the longest.
  Fp16Store(std::int64_t room, std::int64_t dims, bool bias, cudaStream_t stream,
            Fp16MaxNorms* max_squared_norm = nullptr);

  // All points of `rows`, which fit.
  void prepare(const PointRows<float>& rows, const Fp16Frame& frame);

  // Points first … first + count − 1.
  Fp16Rows rows(std::int64_t first, std::int64_t count) const { return rows_.part(first, count); }
  // Null where nobody asked for them.
  const float* bias(std::int64_t first) const { return bias_.size() == 0 ? nullptr : bias_.data() + first; }
  // On the device.
  const Fp16MaxNorms* max_squared_norm() const { return max_squared_norm_; }

 private:
  std::int64_t dims_;
  cudaStream_t stream_;
  DeviceBuffer<Fp16> fp16_;
  DeviceBuffer<core::Fp16Norms> norms_;
  DeviceBuffer<float> bias_;
  DeviceBuffer<Fp16MaxNorms> own_max_norm_;
  Fp16MaxNorms* max_squared_norm_ = nullptr;
  Fp16Rows rows_;
};

// A base that is on the device as a whole.
struct Fp16Base {
  // `squares`: for the form squared, else for products.
  Fp16Base(const PointRows<float>& rows, std::int64_t dims, bool squares, cudaStream_t stream)
      : frame(make_fp16_frame(rows, dims, squares, stream)), store(rows.count, dims, squares, stream) {
    store.prepare(rows, frame);
  }

  Fp16Frame frame;
  Fp16Store store;
};

// Of an index: made for the first search that wants fp16, and kept. Thread-safe.
class CachedFp16 {
 public:
  // The same points every time, and there already. Ready when this returns.
  const Fp16Base& get(const PointRows<float>& rows, std::int64_t dims, bool squares) {
    std::call_once(made_, [&] {
      base_.emplace(rows, dims, squares, stream_);
      stream_.synchronize();
    });
    return *base_;
  }

 private:
  Stream stream_;
  std::once_flag made_;
  std::optional<Fp16Base> base_;
};

// Fp16 are made of floats; no plan asks for those of doubles.
inline PointRows<float> as_floats(const PointRows<float>& rows) {
  return rows;
}
[[noreturn]] inline PointRows<float> as_floats(const PointRows<double>&) {
  throw Error(ErrorCode::internal, "doubles are not rounded to half");
}

}  // namespace kith::KITH_BACKEND::inline points
