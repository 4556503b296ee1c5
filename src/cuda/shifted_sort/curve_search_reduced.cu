// curve_search_reduced.cu: a sink by which the warp that found a query's neighbors reduces them.
#include "cuda/shifted_sort/curve_search_reduced.hpp"

#include "cuda/reduce/reduce_row.cuh"
#include "cuda/shifted_sort/curve_search.cuh"

namespace kith::KITH_BACKEND::shifted_sort {
namespace {

template <class F>
struct ReduceSink {
  reduce::NeighborReduction<F> reduction;
  PointRows<F> base;

  struct List {
    const KeyOf<F>* keys;
    __device__ std::int64_t id(std::int64_t r) const { return static_cast<std::int64_t>(id_of(keys[r])); }
    __device__ double distance(std::int64_t r) const { return static_cast<double>(candidate_value<F>(keys[r])); }
  };

  __device__ void operator()(std::int64_t query, const KeyOf<F>* keys) const {
    reduce::reduce_row(reduction, base, query, List{keys});
  }
};

}  // namespace

template <class F>
void curve_search_reduced(const CurveSearch<F>& search, const reduce::NeighborReduction<F>& reduction,
                          cudaStream_t stream) {
  curve_search(search, ReduceSink<F>{reduction, search.base}, stream);
}

template void curve_search_reduced(const CurveSearch<float>&, const reduce::NeighborReduction<float>&, cudaStream_t);
template void curve_search_reduced(const CurveSearch<double>&, const reduce::NeighborReduction<double>&, cudaStream_t);

}  // namespace kith::KITH_BACKEND::shifted_sort
