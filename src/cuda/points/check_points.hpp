// check_points.hpp: whether points on the device are what a metric can take, with the messages that points of the host
// get.
#pragma once

#include "cuda/points/point_store.hpp"
#include "cuda/runtime/stream.hpp"

namespace kith::KITH_BACKEND::inline points {

// The first place of each fault, kNothing where there is none.
struct PointFaults {
  static constexpr unsigned long long kNothing = ~0ULL;
  unsigned long long not_finite = kNothing;    // row · dims + column
  unsigned long long no_direction = kNothing;  // row
};

template <class F>
class PointCheck {
 public:
  // Enqueues the check of points that are prepared: for NaN and Inf where `finite` asks for it; under cosine and
  // correlation for rows without a direction in any case. Points and their stream must outlive it.
  PointCheck(const PointStore<F>& points, const Metric& metric, bool finite, cudaStream_t stream);
  PointCheck(const PointCheck&) = delete;
  PointCheck& operator=(const PointCheck&) = delete;
  ~PointCheck();

  // Waits for what the stream had to do up to the check, unless there was nothing to check. Error(bad_data) names row
  // and column.
  void refuse_faults(const char* role) const;

 private:
  [[noreturn]] void refuse_value(const char* role, std::int64_t place) const;
  [[noreturn]] void refuse_direction(const char* role, std::int64_t row) const;

  const PointStore<F>& points_;
  Metric metric_;
  cudaStream_t stream_;
  DeviceBuffer<PointFaults> faults_;
  PinnedBuffer<PointFaults> answer_;  // of faults_, once it is answered
  Event answered_;
};

}  // namespace kith::KITH_BACKEND::inline points
