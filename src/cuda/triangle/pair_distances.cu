// pair_distances.cu: one kernel; a team of lanes computes a distance from two padded rows.
#include "cuda/triangle/pair_distances.hpp"

#include "cuda/runtime/launch.cuh"
#include "cuda/triangle/metric_distance.cuh"

namespace kith::KITH_BACKEND::triangle {
namespace {

constexpr unsigned kPairThreads = 256;

template <class F, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(kPairThreads)
    pair_distances_kernel(const __grid_constant__ Space<F> space, const F* left, const F* right, std::int64_t pairs,
                          std::int64_t right_count, double* distances) {
  const std::int64_t pair = static_cast<std::int64_t>(blockIdx.x) * (kPairThreads / kTeam) + threadIdx.x / kTeam;
  const std::int64_t mine = min(pair, pairs - 1);
  const double raw =
      sum_of_pair<kTeam, double>(distance_terms<kSquared>(space), left + mine / right_count * space.width,
                                 right + mine % right_count * space.width, space.width);
  if (pair < pairs && team_lane<kTeam>() == 0) distances[pair] = metric_distance<kSquared>(space.metric, raw);
}

}  // namespace

template <class F>
void pair_distances(const Space<F>& space, const F* left, std::int64_t left_count, const F* right,
                    std::int64_t right_count, double* distances, cudaStream_t stream) {
  const std::int64_t pairs = left_count * right_count;
  with_space(space, [&](auto squared, auto team) {
    launch("pair_distances", pair_distances_kernel<F, squared.value, team.value>,
           {.blocks = ceil_div(pairs, kPairThreads / team.value), .threads = kPairThreads}, stream, space, left, right,
           pairs, right_count, distances);
  });
}

#define KITH_INSTANTIATE(F) \
  template void pair_distances(const Space<F>&, const F*, std::int64_t, const F*, std::int64_t, double*, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
