// tile_products.cuh: the products of 64 queries with a base tile, by a warpgroup: chunks as they come, one group of
// products in flight while the next is started. Other warpgroups multiply while this one uses its sums.
#pragma once

#include "cuda/tensor/nearness.cuh"
#include "cuda/tensor/tile_memory.cuh"

namespace kith::KITH_BACKEND::tensor {

// kCopies is the number of copies of a tile where it is 1 or 2 and queries stay, for which there is shorter code; else
// 0. kSteps are those of a chunk: all of them, but where a row has one chunk and less than all of it. What a row lacks
// is zeros. They are known to the compiler: with products that depend on a condition, ptxas lets each wait for the
// last.
template <WgmmaElement kElement, unsigned kCopies, unsigned kSteps>
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
    if constexpr (kCopies > 0)
      multiply_all_chunks(sums);
    else
      multiply_chunk_by_chunk(sums);
  }

 private:
  __device__ __forceinline__ void multiply_all_chunks(Sum (&sums)[kSums]) {
    unsigned stages[kCopies];
    KITH_UNROLL
    for (unsigned& stage : stages) {
      stage = first_stage + at.stage;
      mbarrier_wait(&barriers.full[stage], at.parity);
      at.advance(work.stages);
    }
    wgmma_fence(sums);
    KITH_UNROLL
    for (unsigned copy = 0; copy < kCopies; ++copy)
      add_chunk(sums, queries.further(copy * work.query_bytes()), base.further(stages[copy] * TileShape::kBaseBytes),
                copy > 0);
    wgmma_commit();
    wgmma_wait<0>(sums);
    KITH_UNROLL
    for (const unsigned stage : stages) release(stage);
  }

  __device__ __forceinline__ void multiply_chunk_by_chunk(Sum (&sums)[kSums]) {
    unsigned last = 0;
    for (unsigned copy = 0; copy < work.copies(); ++copy) {
      const unsigned stage = first_stage + at.stage;
      const unsigned offset = stage * work.stage_bytes;
      const WgmmaOperand left = queries.further(work.resident ? work.pair(copy).query * work.query_bytes() : offset);
      const WgmmaOperand right = base.further(offset);
      mbarrier_wait(&barriers.full[stage], at.parity);
      wgmma_fence(sums);
      add_chunk(sums, left, right, copy > 0);
      wgmma_commit();
      wgmma_wait<1>();
      if (copy > 0) release(last);
      last = stage;
      at.advance(work.stages);
    }
    wgmma_wait<0>(sums);
    release(last);
  }

  __device__ __forceinline__ static void add_chunk(Sum (&sums)[kSums], WgmmaOperand left, WgmmaOperand right,
                                                   bool add) {
    KITH_UNROLL
    for (unsigned step = 0; step < kSteps; ++step)
      wgmma<kElement>(sums, left.further(step * TileShape::kStep), right.further(step * TileShape::kStep),
                      add || step > 0);
  }

  __device__ __forceinline__ void release(unsigned stage) const {
    if (lane_id() == 0) mbarrier_arrive(&barriers.empty[stage]);
  }
};

}  // namespace kith::KITH_BACKEND::tensor
