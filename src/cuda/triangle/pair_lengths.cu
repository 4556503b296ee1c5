#include "cuda/triangle/pair_lengths.hpp"

#include "cuda/runtime/launch.cuh"
#include "cuda/triangle/lengths.cuh"

namespace kith::KITH_BACKEND::triangle {
namespace {

constexpr unsigned kThreads = 256;

// Team a pair.
template <class F, bool kSquared, unsigned kTeam>
__global__ void __launch_bounds__(kThreads)
    pair_lengths_kernel(const __grid_constant__ Space<F> space, const F* left, const F* right, std::int64_t pairs,
                        std::int64_t right_count, double* lengths) {
  const std::int64_t pair = static_cast<std::int64_t>(blockIdx.x) * (kThreads / kTeam) + threadIdx.x / kTeam;
  const std::int64_t mine = min(pair, pairs - 1);
  const double raw = sum_between<kTeam, double>(length_terms<kSquared>(space), left + mine / right_count * space.width,
                                                right + mine % right_count * space.width, space.width);
  if (pair < pairs && team_lane<kTeam>() == 0) lengths[pair] = length_of<kSquared>(space.metric, raw);
}

}  // namespace

template <class F>
void pair_lengths(const Space<F>& space, const F* left, std::int64_t left_count, const F* right,
                  std::int64_t right_count, double* lengths, cudaStream_t stream) {
  const std::int64_t pairs = left_count * right_count;
  with_space(space, [&](auto squared, auto team) {
    launch("pair_lengths", pair_lengths_kernel<F, squared.value, team.value>,
           {.blocks = ceil_div(pairs, kThreads / team.value), .threads = kThreads}, stream, space, left, right, pairs,
           right_count, lengths);
  });
}

#define KITH_INSTANTIATE(F) \
  template void pair_lengths(const Space<F>&, const F*, std::int64_t, const F*, std::int64_t, double*, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::triangle
