// The warp that found a query's neighbors reduces them.
#include "cuda/shifted_sort/near_reduction.hpp"

#include "cuda/reduce/reduce_row.cuh"
#include "cuda/shifted_sort/curve_search.cuh"

namespace kith::KITH_BACKEND::shifted_sort {
namespace {

template <class F>
struct ReduceSink {
  reduce::NearReduction<F> reduction;
  PointRows<F> base;

  struct List {
    const KeyOf<F>* keys;
    __device__ std::int64_t id(std::int64_t r) const { return static_cast<std::int64_t>(id_of(keys[r])); }
    __device__ double distance(std::int64_t r) const { return static_cast<double>(near_value<F>(keys[r])); }
  };

  __device__ void operator()(std::int64_t query, const KeyOf<F>* keys) const {
    reduce::reduce_row(reduction, base, query, List{keys});
  }
};

}  // namespace

template <class F>
void search_reduced(const CurveSearch<F>& search, const reduce::NearReduction<F>& reduction, cudaStream_t stream) {
  curve_search(search, ReduceSink<F>{reduction, search.base}, stream);
}

template void search_reduced(const CurveSearch<float>&, const reduce::NearReduction<float>&, cudaStream_t);
template void search_reduced(const CurveSearch<double>&, const reduce::NearReduction<double>&, cudaStream_t);

}  // namespace kith::KITH_BACKEND::shifted_sort
