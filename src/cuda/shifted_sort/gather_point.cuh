// gather_point.cuh: copies a row of a set to the point of an order.
#pragma once

#include "cuda/distance/scores.hpp"
#include "cuda/shifted_sort/curve_point.cuh"

namespace kith::KITH_BACKEND::shifted_sort {

// Row `id`, of `dims` values, as a point.
template <class F, unsigned kWidth>
__device__ __forceinline__ CurvePoint<F, kWidth> gather_point(const PointRows<F>& rows, unsigned dims, unsigned id) {
  const F* row = rows.data + static_cast<std::int64_t>(id) * rows.stride;
  CurvePoint<F, kWidth> point;
  KITH_UNROLL
  for (unsigned c = 0; c < kWidth - 1; ++c) point.x[c] = c < dims ? row[c] : F{0};
  point.id = id;
  return point;
}

}  // namespace kith::KITH_BACKEND::shifted_sort
