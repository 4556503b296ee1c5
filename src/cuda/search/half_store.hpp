// half_store.hpp: points of a search rounded to half precision (distance/half_rows.hpp), beside the PointStore that has
// their exact rows.
#pragma once

#include <mutex>
#include <optional>

#include "cuda/distance/half_rows.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {

// What the halfs of a base and of its queries share: x is kept as fp16(scale · (x − centre)).
struct HalfFrame {
  DeviceBuffer<float> centre;  // empty: none
  double scale = 1;
};

// From a base, or from some of it: points farther out than these saturate, which their norms tell. `centred` is for
// squares only: products change with the centre. Waits for the stream.
HalfFrame make_half_frame(const PointRows<float>& rows, std::int64_t dims, bool centred, cudaStream_t stream);

// The largest of HalfNorms, as the bits of doubles.
struct HalfLongest {
  unsigned long long exact = 0;
  unsigned long long rounded = 0;
  unsigned long long lost = 0;
};

class HalfStore {
 public:
  // Room for so many points. `addends`: squares of lengths less the centre. Stores that share a set of points may share
  // the place of the longest.
  HalfStore(std::int64_t room, std::int64_t dims, bool addends, cudaStream_t stream, HalfLongest* longest = nullptr);

  // All points of `rows`, which fit.
  void prepare(const PointRows<float>& rows, const HalfFrame& frame);

  // Points first … first + count − 1.
  HalfRows rows(std::int64_t first, std::int64_t count) const { return rows_.part(first, count); }
  // Null where nobody asked for them.
  const float* addends(std::int64_t first) const { return addends_.size() == 0 ? nullptr : addends_.data() + first; }
  // On the device.
  const HalfLongest* longest() const { return longest_; }

 private:
  std::int64_t dims_;
  cudaStream_t stream_;
  DeviceBuffer<Half> halfs_;
  DeviceBuffer<core::HalfNorms> norms_;
  DeviceBuffer<float> addends_;
  DeviceBuffer<HalfLongest> own_longest_;
  HalfLongest* longest_ = nullptr;
  HalfRows rows_;
};

// A base that is on the device as a whole.
struct HalfBase {
  // `squares`: for the form squared, else for products.
  HalfBase(const PointRows<float>& rows, std::int64_t dims, bool squares, cudaStream_t stream)
      : frame(make_half_frame(rows, dims, squares, stream)), store(rows.count, dims, squares, stream) {
    store.prepare(rows, frame);
  }

  HalfFrame frame;
  HalfStore store;
};

// Of an index: made for the first search that wants halfs, and kept. Thread-safe.
class KeptHalfs {
 public:
  // The same points every time, and there already. Ready when this returns.
  const HalfBase& get(const PointRows<float>& rows, std::int64_t dims, bool squares) {
    std::call_once(made_, [&] {
      base_.emplace(rows, dims, squares, stream_);
      stream_.synchronize();
    });
    return *base_;
  }

 private:
  Stream stream_;
  std::once_flag made_;
  std::optional<HalfBase> base_;
};

// Halfs are made of floats; no plan asks for those of doubles.
inline PointRows<float> as_floats(const PointRows<float>& rows) {
  return rows;
}
[[noreturn]] inline PointRows<float> as_floats(const PointRows<double>&) {
  throw Error(ErrorCode::internal, "doubles are not rounded to half");
}

}  // namespace kith::KITH_BACKEND
