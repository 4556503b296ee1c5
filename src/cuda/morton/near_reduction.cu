// The warp that found a query's neighbours reduces them, a lane a neighbour. Cost: a read of each neighbour's values,
// or coordinates, and five shuffles a sum.
#include "cuda/morton/near_reduction.hpp"

#include "cuda/morton/curve_search.cuh"

namespace kith::KITH_BACKEND {
namespace {

// The lanes of a sum in a warp, as core::HostLanes has them.
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

template <class F>
struct ReduceSink {
  NearReduction<F> reduction;
  PointRows<F> base;

  struct Near {
    const ReduceSink& sink;
    const KeyOf<F>* keys;
    __device__ std::int64_t id(std::int64_t r) const { return static_cast<std::int64_t>(id_of(keys[r])); }
    __device__ double distance(std::int64_t r) const { return static_cast<double>(near_value<F>(keys[r])); }
    __device__ double value(std::int64_t r, std::int64_t c) const {
      return static_cast<double>(sink.reduction.values[id(r) * sink.reduction.what.columns + c]);
    }
    __device__ double coordinate(std::int64_t r, std::int64_t c) const {
      return static_cast<double>(sink.base.data[id(r) * sink.base.stride + c]);
    }
  };

  __device__ void operator()(std::int64_t query, const KeyOf<F>* keys) const {
    F* row = reduction.out + query * core::reduced_columns(reduction.what);
    core::reduce_neighbors<WarpLanes>(reduction.what, Near{*this, keys}, [=](std::int64_t column, double value) {
      if (lane_id() == 0) row[column] = static_cast<F>(value);
    });
  }
};

}  // namespace

template <class F>
void search_reduced(const CurveSearch<F>& search, const NearReduction<F>& reduction, cudaStream_t stream) {
  curve_search(search, ReduceSink<F>{reduction, search.base}, stream);
}

template void search_reduced(const CurveSearch<float>&, const NearReduction<float>&, cudaStream_t);
template void search_reduced(const CurveSearch<double>&, const NearReduction<double>&, cudaStream_t);

}  // namespace kith::KITH_BACKEND
