// The warp that found a query's neighbours reduces them.
#include "cuda/morton/near_reduction.hpp"

#include "cuda/morton/curve_search.cuh"
#include "cuda/search/reduce_row.cuh"

namespace kith::KITH_BACKEND {
namespace {

template <class F>
struct ReduceSink {
  NearReduction<F> reduction;
  PointRows<F> base;

  struct List {
    const KeyOf<F>* keys;
    __device__ std::int64_t id(std::int64_t r) const { return static_cast<std::int64_t>(id_of(keys[r])); }
    __device__ double distance(std::int64_t r) const { return static_cast<double>(near_value<F>(keys[r])); }
  };

  __device__ void operator()(std::int64_t query, const KeyOf<F>* keys) const {
    reduce_row(reduction, base, query, List{keys});
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
