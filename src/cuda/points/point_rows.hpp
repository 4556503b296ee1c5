// point_rows.hpp: points on the device as kernels see them.
#pragma once

#include <cstdint>

#include "cuda/points/stored_rows.hpp"
#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline points {

// Points as rows, coordinates next to each other; `stride` elements from one row to the next.
template <class F>
struct PointRows {
  const F* data = nullptr;
  std::int64_t count = 0;
  std::int64_t stride = 0;
};

// Points with the norms and means that exact keys need: null where the metric needs none.
template <class F>
struct ExactSet {
  PointRows<F> rows;  // no data where the points are `stored` in a narrower type
  StoredRows stored{};
  const double* square_norms = nullptr;  // of rows less their means
  const double* means = nullptr;         // correlation only
};

}  // namespace kith::KITH_BACKEND::inline points
