// tile_copies.cuh: the warps that copy: one lane brings chunks of base tiles, and of queries where these do not stay;
// a warp brings the queries of a unit that stay, and the bias of its tiles.
#pragma once

#include "cuda/runtime/warp_roles.cuh"
#include "cuda/tensor/nearness.cuh"
#include "cuda/tensor/tile_memory.cuh"
#include "cuda/tensor/tile_units.cuh"

namespace kith::KITH_BACKEND::tensor {

// Points and their remainders, in boxes of one chunk.
struct ChunkMaps {
  TensorMap rows;
  TensorMap remainders;
};

__device__ __forceinline__ void copy_chunk(void* to, const ChunkMaps& maps, const TileWork& work, unsigned chunk,
                                           unsigned chunk_width, unsigned row, Mbarrier* barrier) {
  const bool remainder = chunk >= work.chunks;
  const unsigned x = (remainder ? chunk - work.chunks : chunk) * chunk_width;
  bulk_tensor_copy(to, remainder ? &maps.remainders : &maps.rows, static_cast<int>(x), static_cast<int>(row), barrier);
}

// By one thread. Each turn has stages of its own, so that no consumer has to follow the phases of others.
template <bool kMirrored>
__device__ __forceinline__ void copy_tiles(const TileWork& work, const ChunkMaps& queries, const ChunkMaps& base,
                                           const TileMemory& memory, const TileBarriers& barriers,
                                           unsigned chunk_width) {
  RingPosition at[TileShape::kMaxConsumers];
  const unsigned copies = work.copies();
  TileUnit unit;
  for (TileUnits<kMirrored> units(work); units.next(unit);) {
    unsigned turn = 0;
    for (unsigned tile = 0; tile < unit.tiles; ++tile) {
      for (unsigned copy = 0; copy < copies; ++copy) {
        const TileWork::ChunkPair pair = work.pair(copy);
        const unsigned stage = turn * work.stages + at[turn].stage;
        Mbarrier* const full = &barriers.full[stage];
        mbarrier_wait(&barriers.empty[stage], at[turn].parity ^ 1U);
        mbarrier_arrive_expect(full, work.stage_bytes);
        copy_chunk(memory.base(stage), base, work, pair.base, chunk_width,
                   (unit.first_tile + tile) * TileShape::kPoints, full);
        if (!work.resident)
          copy_chunk(memory.queries(0, stage), queries, work, pair.query, chunk_width, unit.first_query, full);
        at[turn].advance(work.stages);
      }
      if (++turn == work.turns) turn = 0;
    }
  }
}

// The bias of four of a tile's columns, as nearness; `column` is that of the base.
template <class Sum>
__device__ __forceinline__ void load_bias(const TileWork& work, unsigned column, Sum (&bias)[4]) {
  KITH_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned at = column + i * kWarp;
    bias[i] = at >= work.base_count  ? Nearness<Sum>::least()
              : work.bias == nullptr ? Sum{0}
                                     : Nearness<Sum>::of_bias(work.bias[at * work.bias_step], work.inverse);
  }
}

// The limits of the same points as queries.
template <class Sum>
__device__ __forceinline__ void load_column_limits(const TileWork& work, unsigned column, Sum (&limits)[4]) {
  KITH_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned at = column + i * kWarp;
    limits[i] = at >= work.base_count ? Nearness<Sum>::most() : Nearness<Sum>::of_limit(work.limits[at], work.inverse);
  }
}

// By one warp.
template <class Sum, bool kMirrored>
__device__ __forceinline__ void copy_queries_and_bias(const TileWork& work, const ChunkMaps& queries,
                                                      const TileMemory& memory, const TileBarriers& barriers,
                                                      unsigned chunk_width) {
  constexpr unsigned kAtOnce = kMirrored ? 1 : 2;  // tiles, whose loads are waited for together
  RingPosition at[TileShape::kMaxConsumers];
  unsigned query_parity = 0;
  TileUnit unit;
  for (TileUnits<kMirrored> units(work); units.next(unit);) {
    if (work.resident && lane_id() == 0) {
      mbarrier_wait(barriers.queries_empty, query_parity ^ 1U);
      mbarrier_arrive_expect(barriers.queries_full, work.query_chunks() * work.query_bytes());
      for (unsigned chunk = 0; chunk < work.query_chunks(); ++chunk)
        copy_chunk(memory.queries(chunk, 0), queries, work, chunk, chunk_width, unit.first_query,
                   barriers.queries_full);
    }
    query_parity ^= 1U;
    unsigned turn = 0;
    for (unsigned tile = 0; tile < unit.tiles; tile += kAtOnce) {
      Sum bias[kAtOnce][4];
      Sum limits[kAtOnce][4];
      KITH_UNROLL
      for (unsigned t = 0; t < kAtOnce; ++t) {
        const unsigned column = (unit.first_tile + tile + t) * TileShape::kPoints + lane_id();
        load_bias(work, column, bias[t]);
        if constexpr (kMirrored) load_column_limits(work, column, limits[t]);
      }
      KITH_UNROLL
      for (unsigned t = 0; t < kAtOnce; ++t) {
        if (tile + t >= unit.tiles) break;
        const unsigned stage = turn * work.bias_stages() + at[turn].stage;
        mbarrier_wait(&barriers.bias_empty[stage], at[turn].parity ^ 1U);
        KITH_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
          const unsigned position = bias_position(lane_id() + i * kWarp);
          memory.bias_of<Sum>(stage)[position] = bias[t][i];
          if constexpr (kMirrored) memory.limits_of<Sum>(stage)[position] = limits[t][i];
        }
        __syncwarp();
        if (lane_id() == 0) mbarrier_arrive(&barriers.bias_full[stage]);
        at[turn].advance(work.bias_stages());
        if (++turn == work.turns) turn = 0;
      }
    }
  }
}

}  // namespace kith::KITH_BACKEND::tensor
