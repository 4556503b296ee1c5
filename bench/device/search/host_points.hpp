// host_points.hpp: a large base in the host's memory.
#pragma once

#include <cstdint>

#include "kith/matrix.hpp"

namespace kith::bench::device::search {

// Pageable memory, in huge pages where the system has them, full of nearly Gaussian values: sums of four uniform ones.
// A row can have any length: all values are alike. Throws std::runtime_error where the machine has not enough memory.
class HostPoints {
 public:
  explicit HostPoints(std::int64_t bytes);
  HostPoints(const HostPoints&) = delete;
  HostPoints& operator=(const HostPoints&) = delete;
  ~HostPoints();

  std::int64_t bytes() const { return bytes_; }
  MatrixView<float> rows(std::int64_t first, std::int64_t count, std::int64_t dims) const {
    return {values_ + first * dims, count, dims};
  }
  // Page-locks all of it, for as long as it is there.
  void pin();

 private:
  std::int64_t bytes_;
  float* values_ = nullptr;
  bool pinned_ = false;
};

// So many of the rows, evenly spread.
MatrixView<float> spread_rows(const MatrixView<float>& rows, std::int64_t count);

}  // namespace kith::bench::device::search
