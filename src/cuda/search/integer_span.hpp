// integer_span.hpp: whether points are small integers, whose sums have no rounding at all.
#pragma once

#include "core/bounds.hpp"
#include "cuda/distance/scores.hpp"

namespace kith::KITH_BACKEND {

// The largest difference that two coordinates could have when all are integers, else 0. Waits for the stream.
template <class F>
double integer_span(const PointRows<F>& points, std::int64_t dims, cudaStream_t stream);

// Of both sets. Queries are looked at only where the base is of integers so small that it matters.
template <class F>
double common_span(double base_span, const PointRows<F>& queries, std::int64_t dims, cudaStream_t stream) {
  constexpr double kMost = 1 / core::unit_roundoff<F>();
  if (!(base_span > 0 && static_cast<double>(dims) * base_span * base_span < kMost)) return 0;
  const double span = integer_span(queries, dims, stream);
  return span > base_span ? span : span > 0 ? base_span : 0;
}

}  // namespace kith::KITH_BACKEND
