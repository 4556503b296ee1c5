// check_points.hpp: refuses points on the device that a metric cannot take, with the messages for points of the host.
#pragma once

#include "cuda/points/point_store.hpp"
#include "cuda/runtime/stream.hpp"

namespace kith::KITH_BACKEND::inline points {

// The first index of each fault, kNothing where there is none.
struct PointFaults {
  static constexpr unsigned long long kNothing = ~0ULL;
  unsigned long long beyond = kNothing;        // row · dims + column
  unsigned long long no_direction = kNothing;  // row
};

template <class F>
class PointCheck {
 public:
  // Enqueues the check of prepared points: with `finite` for NaN, Inf and coordinates beyond
  // core::largest_coordinate(); under cosine and correlation always for rows without a direction. Points and their
  // stream must outlive it. `faults`: memory that is ready when the stream comes to it, of another stream.
  PointCheck(const PointStore<F>& points, const Metric& metric, bool finite, cudaStream_t stream,
             DeviceBuffer<PointFaults> faults = {});
  PointCheck(const PointCheck&) = delete;
  PointCheck& operator=(const PointCheck&) = delete;
  ~PointCheck();

  // Waits for the stream up to the check, unless there was nothing to check. Error(bad_data) names row and column; the
  // points are those from `first` on.
  void refuse_faults(const char* role, std::int64_t first = 0) const;

 private:
  [[noreturn]] void refuse_value(const char* role, std::int64_t first, std::int64_t index) const;
  [[noreturn]] void refuse_direction(const char* role, std::int64_t first, std::int64_t row) const;

  const PointStore<F>& points_;
  Metric metric_;
  cudaStream_t stream_;
  DeviceBuffer<PointFaults> faults_;
  PinnedLoan answer_;  // a copy of faults_, once answered_ is reached
  Event answered_;
};

}  // namespace kith::KITH_BACKEND::inline points
