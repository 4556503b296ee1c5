// curve_search_lists.cu: a sink that copies the keys of a warp's list to global memory.
#include "cuda/shifted_sort/curve_search_lists.hpp"

#include "cuda/shifted_sort/curve_search.cuh"

namespace kith::KITH_BACKEND::shifted_sort {
namespace {

template <class F>
struct ListSink {
  F* keys;
  std::int64_t* ids;
  unsigned k;

  __device__ void operator()(std::int64_t query, const KeyOf<F>* near) const {
    for (unsigned r = lane_id(); r < k; r += kWarp) {
      keys[query * k + r] = candidate_value<F>(near[r]);
      ids[query * k + r] = static_cast<std::int64_t>(id_of(near[r]));
    }
  }
};

}  // namespace

template <class F>
void curve_search_lists(const CurveSearch<F>& search, F* keys, std::int64_t* ids, cudaStream_t stream) {
  curve_search(search, ListSink<F>{keys, ids, search.k}, stream);
}

template void curve_search_lists(const CurveSearch<float>&, float*, std::int64_t*, cudaStream_t);
template void curve_search_lists(const CurveSearch<double>&, double*, std::int64_t*, cudaStream_t);

}  // namespace kith::KITH_BACKEND::shifted_sort
