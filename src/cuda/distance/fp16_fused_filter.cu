// fp16_fused_filter.cu: the fused filter (fused_filter.hpp) for points in fp16: fp16_tiled.cuh computes sums, and
// fp16_hits.cuh tests them.
// Cost    that of fp16_tiled.cuh, and an addition and a comparison for each of a thread's 128 scores. A matrix of
//         scores would take three times as long as the products on its way to memory and back at d = 128.
// Limits  capacity and ids below 2^32.
#include "cuda/distance/fp16_hits.cuh"
#include "cuda/distance/fused_filter.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/least_shared.hpp"

namespace kith::KITH_BACKEND::distance {

namespace {

template <bool kResident>
__global__ void __launch_bounds__(Fp16TileShape::kThreads, Fp16TileShape::kBlocks)
    fp16_filter_kernel(Fp16TileWork work, CandidateLists<float> lists) {
  using Shape = Fp16HitShape;
  static_assert(Fp16TileShape::kMinBytes + Shape::kBytes <= kLeastShared);
  KITH_SHARED(float, limits, Fp16TileShape::kPoints);
  KITH_SHARED(float4, scores, Shape::kQueued * 2);
  KITH_SHARED(unsigned, pairs, Shape::kQueued);
  Fp16Hits hits(lists, {work.first_query(), work.first_point(), work.query_count, work.base_count}, work.scale, limits,
                {scores + warp_id() * Shape::kCapacity * 2, pairs + warp_id() * Shape::kCapacity});
  hits.begin();
  compute_fp16_tiles<kResident>(work, hits);
  hits.flush();
}

}  // namespace

void fp16_filter(const Fp16FilterCall& call) {
  if (call.queries.count == 0 || call.base.count == 0) return;
  const Fp16TileWork work = plan_fp16_tiles(call.queries, call.base, call.bias, Fp16HitShape::kBytes);
  launch("fp16_filter", work.queries_resident ? fp16_filter_kernel<true> : fp16_filter_kernel<false>,
         {.blocks = work.blocks(), .threads = Fp16TileShape::kThreads, .shared_bytes = work.shared_bytes()},
         call.stream, work, call.lists);
}

}  // namespace kith::KITH_BACKEND::distance
