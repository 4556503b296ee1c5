// integer_range.hpp: whether points are small integers, whose sums have no rounding at all.
#pragma once

#include "core/bounds.hpp"
#include "cuda/points/point_rows.hpp"

namespace kith::KITH_BACKEND::inline points {

// The largest difference that two coordinates could have when all are integers, else 0. Waits for the stream.
template <class F>
double integer_range(const PointRows<F>& points, std::int64_t dims, cudaStream_t stream);

// Of both sets. Queries are looked at only where the base is of integers so small that it matters.
template <class F>
double common_range(double base_range, const PointRows<F>& queries, std::int64_t dims, cudaStream_t stream) {
  constexpr double kMost = 1 / core::unit_roundoff<F>();
  if (!(base_range > 0 && static_cast<double>(dims) * base_range * base_range < kMost)) return 0;
  const double range = integer_range(queries, dims, stream);
  return range > base_range ? range : range > 0 ? base_range : 0;
}

}  // namespace kith::KITH_BACKEND::inline points
