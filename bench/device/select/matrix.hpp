// matrix.hpp: the values that are selected from, made where they are needed.
#pragma once

#include <cstdint>
#include <string>

#include "device/harness/backend.hpp"

namespace kith::bench::device::select {

enum class Pattern {
  random,      // uniform in [0, 1), 24 bits: long rows have ties
  descending,  // the smallest come last, so that everything seems good when it is met
  equal,       // one value: the answer is decided by ids alone
  smooth,      // 64 neighbors all but alike, so that a sample taken next to another says nothing new
};

const char* to_string(Pattern pattern);

struct MatrixShape {
  std::int64_t rows = 0;
  unsigned length = 0;
  Pattern pattern = Pattern::random;

  std::size_t values() const { return static_cast<std::size_t>(rows) * length; }
};

// "2048 × 1048576 random"
std::string describe(const MatrixShape& shape);

class DeviceMatrix {
 public:
  explicit DeviceMatrix(const cuda::Stream& stream) : stream_(stream) {}

  // Values are never negative and never NaN, which the checks rely on.
  void fill(const MatrixShape& shape, unsigned seed);

  const float* data() const { return values_.data(); }
  const MatrixShape& shape() const { return shape_; }

 private:
  const cuda::Stream& stream_;
  cuda::DeviceBuffer<float> values_;
  MatrixShape shape_;
};

// What a selection writes: sorted or not, values and ids, rows × k.
struct DeviceAnswer {
  cuda::DeviceBuffer<float> values;
  cuda::DeviceBuffer<std::int64_t> ids;

  void reserve(std::size_t count, const cuda::Stream& stream);
};

}  // namespace kith::bench::device::select
