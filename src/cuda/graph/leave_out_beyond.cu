#include "cuda/graph/leave_out_beyond.hpp"

#include <limits>

#include "core/max_distance.hpp"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::graph {
namespace {

constexpr unsigned kPlacesOfBlock = 256;

template <class F>
__global__ void __launch_bounds__(kPlacesOfBlock)
    leave_out_beyond_kernel(F* distances, std::int64_t* ids, std::int64_t count, F largest) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlacesOfBlock + threadIdx.x;
  if (i >= count || distances[i] <= largest) return;
  ids[i] = core::kNoNeighbor;
  distances[i] = std::numeric_limits<F>::infinity();
}

}  // namespace

template <class F>
void leave_out_beyond(F* distances, std::int64_t* ids, std::int64_t count, F largest, cudaStream_t stream) {
  launch("leave_out_beyond", leave_out_beyond_kernel<F>,
         {.blocks = ceil_div(count, kPlacesOfBlock), .threads = kPlacesOfBlock}, stream, distances, ids, count,
         largest);
}

template void leave_out_beyond(float*, std::int64_t*, std::int64_t, float, cudaStream_t);
template void leave_out_beyond(double*, std::int64_t*, std::int64_t, double, cudaStream_t);

}  // namespace kith::KITH_BACKEND::graph
