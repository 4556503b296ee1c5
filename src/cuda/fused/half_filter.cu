// half_filter.cu: scores of halfs that are not above their query's limit, and no others (half_tiled.cuh computes them,
// and filter_tile.cuh looks at them).
// Cost    half_tiled.cuh's, and for each of a thread's 64 scores a comparison: no matrix of scores, whose way to memory
//         and back takes three times as long as the products at d = 128.
// Limits  room and ids below 2^32.
#include "cuda/distance/half_tiled.cuh"
#include "cuda/fused/filter.hpp"
#include "cuda/fused/filter_tile.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND {

namespace {

__global__ void __launch_bounds__(HalfTileShape::kThreads, HalfTileShape::kBlocks)
    half_filter_kernel(HalfTileWork work, CandidateLists<float> lists) {
  using Filter = FilterTile<float, HalfTileShape, CandidateLists<float>>;
  KITH_SHARED(float, limits, HalfTileShape::kPoints);
  KITH_SHARED(Passed<float>, buffer, Filter::kRoom);
  KITH_SHARED(unsigned, buffered, 1);
  const Filter filter{
      lists, {work.first_query(), work.first_point(), work.query_count, work.base_count}, limits, buffer, buffered};
  filter.begin();
  compute_half_tiles(work, filter);
  filter.empty();
}

}  // namespace

void half_filter(const HalfFilterCall& call) {
  if (call.queries.count == 0 || call.base.count == 0) return;
  const HalfTileWork work = plan_half_tiles(call.queries, call.base, call.addends);
  launch("half_filter", half_filter_kernel,
         {.blocks = work.blocks(), .threads = HalfTileShape::kThreads, .shared_bytes = work.shared_bytes()},
         call.stream, work, call.lists);
}

}  // namespace kith::KITH_BACKEND
