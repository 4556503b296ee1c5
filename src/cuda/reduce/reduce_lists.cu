// reduce_lists.cu: a warp reduces a list in global memory.
#include "cuda/reduce/reduce_row.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::reduce {
namespace {

constexpr unsigned kReduceThreads = 128;
constexpr unsigned kReduceWarps = kReduceThreads / kWarp;

template <class F>
struct ListRow {
  const F* distances;
  const std::int64_t* ids;
  __device__ std::int64_t id(std::int64_t r) const { return ids[r]; }
  __device__ double distance(std::int64_t r) const { return static_cast<double>(distances[r]); }
};

template <class F>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_lists_kernel(NeighborLists<F> lists, PointRows<F> base, NeighborReduction<F> reduction) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kReduceWarps + warp_id();
  if (query >= lists.count) return;
  const std::int64_t first = query * reduction.what.k;
  reduce_row(reduction, base, query, ListRow<F>{lists.distances + first, lists.ids + first});
}

}  // namespace

template <class F>
void reduce_lists(const NeighborLists<F>& lists, const PointRows<F>& base, const NeighborReduction<F>& reduction,
                  cudaStream_t stream) {
  const LaunchShape shape = {.blocks = ceil_div(lists.count, kReduceWarps), .threads = kReduceThreads};
  launch("reduce_lists", reduce_lists_kernel<F>, shape, stream, lists, base, reduction);
}

template void reduce_lists(const NeighborLists<float>&, const PointRows<float>&, const NeighborReduction<float>&,
                           cudaStream_t);
template void reduce_lists(const NeighborLists<double>&, const PointRows<double>&, const NeighborReduction<double>&,
                           cudaStream_t);

}  // namespace kith::KITH_BACKEND::reduce
