// fp16_tile_work.cuh: how products of points in fp16 (fp16_tiled.cuh) are divided into tiles, and where what a block
// needs lies in its shared memory.
// Idea    a block of four warps has 128 queries × 128 base points, a warp 64 × 64 of them, in whose sums its fragments
//         are used often enough that tensor cores, and not shared memory, decide. That takes most registers: two blocks
//         share a multiprocessor, and one multiplies while the other tests its scores.
// Layout  a row of a chunk has 64 bytes in 4 vectors, vector v at index v ^ (row / 2 % 4), so that eight rows are read
//         from different banks.
#pragma once

#include <algorithm>

#include "cuda/distance/register_tiled.cuh"
#include "cuda/points/fp16_rows.hpp"

namespace kith::KITH_BACKEND::distance {

struct Fp16TileShape {
  static constexpr unsigned kThreads = 128;
  static constexpr unsigned kBlocks = 2;                  // blocks of a multiprocessor at once
  static constexpr unsigned kPoints = 128;                // points of a tile, of either set
  static constexpr unsigned kWarpPoints = 64;             // those of a warp
  static constexpr unsigned kRows = 8;                    // a thread's queries
  static constexpr unsigned kColumns = 16;                // a thread's base points
  static constexpr unsigned kDepth = 32;                  // coordinates of a chunk
  static constexpr unsigned kStep = 16;                   // coordinates that are multiplied at a time
  static constexpr unsigned kVector = 8;                  // coordinates of 16 bytes
  static constexpr unsigned kVectors = kDepth / kVector;  // vectors of a row
  static constexpr unsigned kStages = 4;
  static constexpr unsigned kBiasStages = kStages + 1;  // a tile is tested when copies of the kStages after it began
  static constexpr unsigned kMaxTiles = 64;             // tiles that a block runs through

  static constexpr unsigned kChunk = kPoints * kDepth;  // values of a chunk

  // Bytes of dynamic shared memory that a block needs where queries are not resident.
  static constexpr std::size_t kMinBytes = sizeof(Fp16) * kChunk * 2 * kStages + sizeof(float) * kBiasStages * kPoints;
};

struct Fp16TileWork {
  using Shape = Fp16TileShape;

  const Fp16* queries;
  const Fp16* base;
  std::int64_t query_count;
  std::int64_t base_count;
  std::int64_t base_stride;
  const float* bias;  // one a base point, or null
  float scale;        // of products
  unsigned stride;    // of queries; also the number of coordinates
  unsigned chunks;
  bool queries_resident;  // in shared memory; else they come again with every base tile
  unsigned query_tiles;   // neighboring blocks have other queries and the same base tiles, for the cache
  unsigned base_tiles;
  unsigned tiles_each;

  // The tiles of the calling block.
  __device__ unsigned query_tile() const { return blockIdx.x % query_tiles; }
  __device__ unsigned first_base_tile() const { return blockIdx.x / query_tiles * tiles_each; }
  __device__ std::int64_t first_query() const { return std::int64_t{query_tile()} * Shape::kPoints; }
  __device__ std::int64_t first_point() const { return std::int64_t{first_base_tile()} * Shape::kPoints; }

  std::int64_t blocks() const { return query_tiles * ceil_div(base_tiles, tiles_each); }
  std::size_t shared_bytes() const {
    return sizeof(Fp16) * Shape::kChunk * (Shape::kStages + query_chunks()) +
           sizeof(float) * Shape::kBiasStages * Shape::kPoints;
  }

  __host__ __device__ unsigned query_chunks() const { return queries_resident ? chunks : Shape::kStages; }
  // Whether a chunk has more coordinates than are multiplied at a time.
  __device__ bool has_two_steps(unsigned chunk) const { return stride - chunk * Shape::kDepth > Shape::kStep; }
};
static_assert(Fp16TileShape::kDepth == 2 * Fp16TileShape::kStep);

// Blocks that the shared memory of a multiprocessor holds at once, if they need so many bytes.
inline std::int64_t fp16_blocks_each(std::size_t bytes) {
  constexpr std::int64_t kReserved = 1024;  // bytes that a block needs besides
  const core::DeviceHardware& hardware = device_policy().hardware;
  const auto wanted = static_cast<std::int64_t>(bytes);
  if (wanted > hardware.shared_per_block) return 0;
  return std::min<std::int64_t>(Fp16TileShape::kBlocks, hardware.shared_per_multiprocessor / (wanted + kReserved));
}

// Both sets must have at least one point. `other_bytes` of shared memory are the kernel's own. Queries stay in shared
// memory where that does not leave room for fewer blocks.
inline Fp16TileWork plan_fp16_tiles(const Fp16Rows& queries, const Fp16Rows& base, const float* bias,
                                    std::size_t other_bytes) {
  using Shape = Fp16TileShape;
  const std::int64_t query_tiles = ceil_div(queries.count, Shape::kPoints);
  const std::int64_t base_tiles = ceil_div(base.count, Shape::kPoints);
  const double unscale = 1 / (queries.scale * base.scale);
  Fp16TileWork work = {.queries = queries.data,
                       .base = base.data,
                       .query_count = queries.count,
                       .base_count = base.count,
                       .base_stride = base.stride,
                       .bias = bias,
                       .scale = static_cast<float>(bias != nullptr ? -2 * unscale : -unscale),
                       .stride = static_cast<unsigned>(queries.stride),
                       .chunks = static_cast<unsigned>(ceil_div(queries.stride, Shape::kDepth)),
                       .queries_resident = false,
                       .query_tiles = static_cast<unsigned>(query_tiles),
                       .base_tiles = static_cast<unsigned>(base_tiles),
                       .tiles_each = 1};
  const std::int64_t streamed = fp16_blocks_each(work.shared_bytes() + other_bytes);
  work.queries_resident = true;
  const std::int64_t resident = fp16_blocks_each(work.shared_bytes() + other_bytes);
  work.queries_resident = resident >= streamed;
  const std::int64_t blocks_each = std::max<std::int64_t>({streamed, resident, 1});
  work.tiles_each = best_tiles_each(query_tiles, base_tiles, blocks_each * multiprocessor_count(), Shape::kMaxTiles);
  return work;
}

// The pairs of the tile that a thread has: rows are queries, columns base points. Warps lie 2 × 2.
struct Fp16ThreadPairs {
  using Shape = Fp16TileShape;
  unsigned first_row;
  unsigned first_column;

  __device__ Fp16ThreadPairs()
      : first_row(warp_id() / 2 * Shape::kWarpPoints + lane_id() / 4),
        first_column(warp_id() % 2 * Shape::kWarpPoints + lane_id() % 4 * 2) {}

  __device__ unsigned row(unsigned i) const { return first_row + 8 * i; }
};

// Addresses in the block's shared memory: bias, base, queries.
struct Fp16TileMemory {
  using Shape = Fp16TileShape;

  // Of the tile so many after the block's first.
  __device__ static float* bias(unsigned tile) {
    return dynamic_shared<float>() + tile % Shape::kBiasStages * Shape::kPoints;
  }
  __device__ static Fp16* base(unsigned stage) {
    return reinterpret_cast<Fp16*>(dynamic_shared<float>() + Shape::kBiasStages * Shape::kPoints) +
           stage * Shape::kChunk;
  }
  // By chunk where they are resident, else by stage.
  __device__ static Fp16* queries(unsigned i) { return base(Shape::kStages + i); }
  __device__ static unsigned after(unsigned stage) { return stage + 1 < Shape::kStages ? stage + 1 : 0; }
  // Offset of a row's vector, in values.
  __device__ static unsigned offset(unsigned row, unsigned vector) {
    return row * Shape::kDepth + (vector ^ row / 2 % Shape::kVectors) * Shape::kVector;
  }
};

}  // namespace kith::KITH_BACKEND::distance
