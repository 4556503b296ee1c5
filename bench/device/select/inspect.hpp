// inspect.hpp: whether an answer is right, decided on the device for all rows, by no method of selection.
// An answer's keys (value, id) are values of the row at different columns, in order where that was asked for, and the
// row has exactly k keys up to the largest of them. For unsorted answers "different" is decided by the sum of a hash of
// the ids, which must be that of the row's keys up to the largest.
#pragma once

#include <string>

#include "device/select/matrix.hpp"

namespace kith::bench::device::select {

class Inspector {
 public:
  explicit Inspector(const cuda::Stream& stream) : stream_(stream) {}

  // Empty, or what is wrong with how many rows. Waits for the stream.
  std::string fault(const DeviceMatrix& matrix, const DeviceAnswer& answer, unsigned k, bool sorted);

 private:
  const cuda::Stream& stream_;
  cuda::DeviceBuffer<unsigned char> memory_;
};

}  // namespace kith::bench::device::select
