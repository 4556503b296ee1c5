// tile_work.hpp: how the blocks of a pass over all pairs divide it among them.
// A unit is a group of queries with a run of base tiles. Blocks stay on the device; those that run at the same time
// have the same base tiles, or the same few, and other queries, so that tiles come from the cache (tile_units.cuh).
#pragma once

#include "core/tensor_tiles.hpp"
#include "cuda/tensor/tensor_filter.hpp"

namespace kith::KITH_BACKEND::tensor {

// Shapes that the kernels have in common. A chunk is 128 bytes of each of a tile's rows.
struct TileShape {
  static constexpr unsigned kMaxConsumers = 4;  // warpgroups that multiply, beside one that works for them
  static constexpr unsigned kPoints = core::kTensorTilePoints;  // base points of a tile
  static constexpr unsigned kRows = 64;                         // queries of a warpgroup
  static constexpr unsigned kChunk = 128;                       // bytes of a row
  static constexpr unsigned kBaseBytes = kPoints * kChunk;
  static constexpr unsigned kStep = 32;  // bytes that are multiplied at a time
  static constexpr unsigned kSteps = kChunk / kStep;
  static constexpr unsigned kMaxStages = 12;
  static constexpr unsigned kBiasStages = 12;  // tiles
  static constexpr unsigned kHits = 8;         // sums of a record of hits
  // Records of a queue: as many as the warps of a consumer have at most begun and not finished, so that none waits for
  // itself.
  static constexpr unsigned kHitCapacity = 128;
};

struct TileWork {
  unsigned query_count;
  unsigned base_count;
  unsigned consumers;   // warpgroups that multiply
  unsigned turns;       // of consumers that have the same queries, and take tiles by turns
  unsigned groups;      // of queries
  unsigned group_rows;  // queries of a group
  unsigned tiles;       // of the base
  unsigned parts;       // runs of tiles
  unsigned row_bytes;   // that are multiplied
  unsigned chunks;      // of a row
  bool remainders;
  bool mirrored;    // queries and base are the same points, and a product serves both of its points
  bool resident;    // queries stay in shared memory for a unit
  unsigned stages;  // of each turn
  unsigned stage_bytes;
  const float* bias;
  std::int64_t bias_step;
  float factor;  // a power of two
  float inverse;
  const float* limits;  // of scores, one a query

  __host__ __device__ unsigned units() const { return groups * parts; }
  __host__ __device__ unsigned bias_stages() const { return TileShape::kBiasStages / turns; }  // of each turn
  // Warps that read a tile, or the queries.
  __device__ unsigned tile_readers() const { return consumers / turns * 4; }
  __device__ unsigned query_readers() const { return consumers * 4; }
  // Of a consumer: its first query in the group, and the first tile that it has; it has every turns-th.
  __device__ unsigned first_row(unsigned consumer) const { return consumer % (consumers / turns) * TileShape::kRows; }
  __device__ unsigned turn(unsigned consumer) const { return consumer / (consumers / turns); }

  // The first tile of a part.
  __device__ unsigned part_begin(unsigned part) const {
    return static_cast<unsigned>(static_cast<unsigned long long>(part) * tiles / parts);
  }

  // Copies of chunks that a tile takes, and what the i-th of them multiplies: without remainders chunk i of both; with
  // them all chunks of x̂y̌, then of x̌ŷ, then of x̂ŷ (tensor_filter.hpp), those of remainders counted from `chunks` on.
  // Small products come first, where they lose no digits to large sums (core/fp16_bounds.hpp relies on it).
  __host__ __device__ unsigned copies() const { return remainders ? 3 * chunks : chunks; }
  struct ChunkPair {
    unsigned query;
    unsigned base;
  };
  __device__ ChunkPair pair(unsigned copy) const {
    if (!remainders) return {copy, copy};
    const unsigned product = copy < chunks ? 0 : copy < 2 * chunks ? 1 : 2;
    const unsigned chunk = copy - product * chunks;
    return {product == 1 ? chunks + chunk : chunk, product == 0 ? chunks + chunk : chunk};
  }
  // Chunks of the queries that stay.
  __host__ __device__ unsigned query_chunks() const { return remainders ? 2 * chunks : chunks; }
  __host__ __device__ unsigned query_bytes() const { return group_rows * TileShape::kChunk; }  // of a chunk
};

}  // namespace kith::KITH_BACKEND::tensor
