// integer_range.hpp: detects points of small integers, whose sums have no rounding errors.
#pragma once

#include "core/bounds.hpp"
#include "cuda/points/point_rows.hpp"

namespace kith::KITH_BACKEND::inline points {

// Returns the largest difference that two coordinates can have where all are integers, else 0. Waits for the stream.
template <class F>
double integer_range(const PointRows<F>& points, std::int64_t dims, cudaStream_t stream);

// The range of both sets. Queries are read only where the base has integers so small that sums are exact.
template <class F>
double common_range(double base_range, const PointRows<F>& queries, std::int64_t dims, cudaStream_t stream) {
  constexpr double kMaxSum = 1 / core::unit_roundoff<F>();
  if (!(base_range > 0 && static_cast<double>(dims) * base_range * base_range < kMaxSum)) return 0;
  const double range = integer_range(queries, dims, stream);
  return range > base_range ? range : range > 0 ? base_range : 0;
}

}  // namespace kith::KITH_BACKEND::inline points
