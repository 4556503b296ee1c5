// host_points.hpp: a large base in the host's memory, made and searched by all its threads.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/matrix.hpp"

namespace kith::search_bench {

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

struct HostAnswer {
  std::vector<float> distances;
  std::vector<std::int64_t> ids;
};

// Squared Euclidean, by the definition of the key: eight sums in double, rounded once; in the order of (distance, id).
// Shares nothing with the library.
HostAnswer scan(const MatrixView<float>& base, const MatrixView<float>& queries, std::int64_t k);

}  // namespace kith::search_bench
