#include "cuda/graph/exclude_self.hpp"

#include "core/key.hpp"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::graph {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kWarps = kThreads / kWarp;

template <class F, class Id>
__global__ void __launch_bounds__(kThreads)
    exclude_self_kernel(Metric metric, const F* keys, const Id* found, std::int64_t points, std::int64_t k,
                        F* distances, std::int64_t* ids) {
  const std::int64_t point = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (point >= points) return;
  std::int64_t left_out = 0;  // 1 once the point itself has passed
  for (std::int64_t first = 0; first <= k; first += kWarp) {
    const std::int64_t i = first + lane_id();
    const std::int64_t from = point * (k + 1) + i;
    const std::int64_t id = i <= k ? static_cast<std::int64_t>(found[from]) : -1;
    const unsigned self = __ballot_sync(kFullMask, id == point);
    const bool behind = left_out > 0 || (self & ((1U << lane_id()) - 1)) != 0;
    const std::int64_t to = i - (behind ? 1 : 0);
    if (i <= k && id != point && to < k) {
      distances[point * k + to] = core::returned_value(metric, keys[from]);
      ids[point * k + to] = id;
    }
    if (self != 0) left_out = 1;
  }
}

}  // namespace

template <class F, class Id>
void exclude_self(const Metric& metric, const F* keys, const Id* found, std::int64_t points, std::int64_t k,
                  F* distances, std::int64_t* ids, cudaStream_t stream) {
  launch("exclude_self", exclude_self_kernel<F, Id>, {.blocks = ceil_div(points, kWarps), .threads = kThreads}, stream,
         metric, keys, found, points, k, distances, ids);
}

#define KITH_INSTANTIATE(F, Id)                                                                                 \
  template void exclude_self(const Metric&, const F*, const Id*, std::int64_t, std::int64_t, F*, std::int64_t*, \
                             cudaStream_t);
KITH_INSTANTIATE(float, unsigned)
KITH_INSTANTIATE(double, unsigned)
KITH_INSTANTIATE(float, std::int64_t)
KITH_INSTANTIATE(double, std::int64_t)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::graph
