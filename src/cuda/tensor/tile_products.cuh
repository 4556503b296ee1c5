// tile_products.cuh: the products of 64 queries with a base tile, by a warpgroup: chunks as they come, one group of
// products in flight while the next is started. Other warpgroups multiply while this one uses its sums.
#pragma once

#include "cuda/tensor/nearness.cuh"
#include "cuda/tensor/tile_memory.cuh"

namespace kith::KITH_BACKEND::tensor {

template <WgmmaElement kElement>
struct TileProducts {
  using Sum = WgmmaSum<kElement>;
  static constexpr unsigned kSums = TileShape::kPoints / 2;  // of a thread

  const TileWork& work;
  const TileBarriers& barriers;
  WgmmaOperand queries;  // the first chunk of the warpgroup's rows
  WgmmaOperand base;     // that of the first stage
  unsigned first_stage;
  RingPosition at{};

  __device__ TileProducts(const TileWork& tile_work, const TileMemory& memory, const TileBarriers& tile_barriers,
                          unsigned consumer)
      : work(tile_work),
        barriers(tile_barriers),
        queries(memory.queries(0, 0) + tile_work.first_row(consumer) * TileShape::kChunk, Swizzle::bytes_128),
        base(memory.base(0), Swizzle::bytes_128),
        first_stage(tile_work.turn(consumer) * tile_work.stages) {}

  __device__ __forceinline__ void multiply_tile(Sum (&sums)[kSums]) {
    unsigned last = 0;
    for (unsigned copy = 0; copy < work.copies(); ++copy) {
      const unsigned stage = first_stage + at.stage;
      const unsigned offset = stage * work.stage_bytes;
      const WgmmaOperand left = queries.further(work.resident ? work.pair(copy).query * work.query_bytes() : offset);
      const WgmmaOperand right = base.further(offset);
      mbarrier_wait(&barriers.full[stage], at.parity);
      wgmma_fence(sums);
      // All steps of a chunk, those beyond a row's end with zeros: with products that depend on a condition, ptxas lets
      // each wait for the last.
      KITH_UNROLL
      for (unsigned step = 0; step < TileShape::kChunk; step += TileShape::kStep)
        wgmma<kElement>(sums, left.further(step), right.further(step), copy > 0 || step > 0);
      wgmma_commit();
      wgmma_wait<1>();
      if (copy > 0) release(last);
      last = stage;
      at.advance(work.stages);
    }
    wgmma_wait<0>(sums);
    release(last);
  }

 private:
  __device__ __forceinline__ void release(unsigned stage) const {
    if (lane_id() == 0) mbarrier_arrive(&barriers.empty[stage]);
  }
};

}  // namespace kith::KITH_BACKEND::tensor
