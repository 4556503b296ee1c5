// device_matrix.hpp: the values that are selected from, made where they are needed.
#pragma once

#include <vector>

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "suite.hpp"

namespace kith::select_bench {

class DeviceMatrix {
 public:
  explicit DeviceMatrix(const cuda::Stream& stream) : stream_(stream) {}

  // Values are never negative and never NaN, which the checks rely on. Nothing is done where it is so already.
  void fill(const Shape& shape, unsigned seed);
  std::vector<float> copy_row(std::int64_t row) const;

  const float* data() const { return values_.data(); }
  const Shape& shape() const { return shape_; }

 private:
  const cuda::Stream& stream_;
  cuda::DeviceBuffer<float> values_;
  Shape shape_;
  unsigned seed_ = 0;
};

// What a selection writes: sorted or not, values and ids, rows × k.
struct Answer {
  cuda::DeviceBuffer<float> values;
  cuda::DeviceBuffer<std::int64_t> ids;

  // Makes room for so many; what was there is lost.
  void reserve(std::size_t count, const cuda::Stream& stream);
};

}  // namespace kith::select_bench
