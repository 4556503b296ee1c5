// reduce_row.cuh: a warp reduces the neighbors of its query, a lane a neighbor.
// Cost    reading each neighbor's values, or coordinates, and five shuffles a sum.
#pragma once

#include "cuda/reduce/reduction.hpp"
#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::reduce {

// The lanes of a sum, in the order of core::HostLanes.
struct WarpLanes {
  template <class Term>
  __device__ static double sum(std::int64_t count, Term term) {
    double lane = 0;
    for (std::int64_t r = lane_id(); r < count; r += kWarp) lane += term(r);
    for (int step = kWarp / 2; step > 0; step /= 2) lane += __shfl_xor_sync(kFullMask, lane, step);
    return lane;
  }
  template <class Term>
  __device__ static double least(std::int64_t count, double sign, Term term) {
    double found = sign * term(0);
    for (std::int64_t r = lane_id(); r < count; r += kWarp) found = sign * term(r) < found ? sign * term(r) : found;
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const double other = __shfl_xor_sync(kFullMask, found, step);
      found = other < found ? other : found;
    }
    return sign * found;
  }
};

// Writes row `query` of the answer. `list` has id(r) and distance(r) of neighbor r. Must be called by all lanes of the
// warp.
template <class F, class List>
__device__ void reduce_row(const NeighborReduction<F>& reduction, const PointRows<F>& base, std::int64_t query,
                           const List& list) {
  struct Neighbors {
    const NeighborReduction<F>& reduction;
    const PointRows<F>& base;
    const List& list;
    __device__ double distance(std::int64_t r) const { return list.distance(r); }
    __device__ double value(std::int64_t r, std::int64_t c) const {
      return static_cast<double>(reduction.values.data[list.id(r) * reduction.values.stride + c]);
    }
    __device__ double coordinate(std::int64_t r, std::int64_t c) const {
      return static_cast<double>(base.data[list.id(r) * base.stride + c]);
    }
  };
  F* row = reduction.out + query * core::reduced_columns(reduction.what);
  core::reduce_neighbors<WarpLanes>(reduction.what, Neighbors{reduction, base, list},
                                    [=](std::int64_t column, double value) {
                                      if (lane_id() == 0) row[column] = static_cast<F>(value);
                                    });
}

}  // namespace kith::KITH_BACKEND::reduce
