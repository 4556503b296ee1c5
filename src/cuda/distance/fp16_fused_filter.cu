// fp16_fused_filter.cu: the fused filter (fused_filter.hpp) for points in fp16: fp16_tiled.cuh computes scores, and
// fused_filter_tile.cuh tests them.
// Cost    that of fp16_tiled.cuh, and a comparison for each of a thread's 64 scores. A matrix of scores would take
// three
//         times as long as the products on its way to memory and back at d = 128.
// Limits  capacity and ids below 2^32.
#include "cuda/distance/fp16_tiled.cuh"
#include "cuda/distance/fused_filter.hpp"
#include "cuda/distance/fused_filter_tile.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::distance {

namespace {

__global__ void __launch_bounds__(Fp16TileShape::kThreads, Fp16TileShape::kBlocks)
    fp16_filter_kernel(Fp16TileWork work, CandidateLists<float> lists) {
  using Filter = FilterTile<float, Fp16TileShape, CandidateLists<float>>;
  KITH_SHARED(float, limits, Fp16TileShape::kPoints);
  KITH_SHARED(PassedPair<float>, buffer, Filter::kCapacity);
  KITH_SHARED(unsigned, buffered, 1);
  const Filter filter{
      lists, {work.first_query(), work.first_point(), work.query_count, work.base_count}, limits, buffer, buffered};
  filter.begin();
  compute_fp16_tiles(work, filter);
  filter.flush();
}

}  // namespace

void fp16_filter(const Fp16FilterCall& call) {
  if (call.queries.count == 0 || call.base.count == 0) return;
  const Fp16TileWork work = plan_fp16_tiles(call.queries, call.base, call.bias);
  launch("fp16_filter", fp16_filter_kernel,
         {.blocks = work.blocks(), .threads = Fp16TileShape::kThreads, .shared_bytes = work.shared_bytes()},
         call.stream, work, call.lists);
}

}  // namespace kith::KITH_BACKEND::distance
