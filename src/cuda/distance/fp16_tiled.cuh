// fp16_tiled.cuh: products of many queries with many base points in fp16 on tensor cores, tile by tile, for kernels
// that use the scores in registers. Idea    as register_tiled.cuh: a block of 256 threads has 128 queries × 128 base
// points and runs through base tiles,
//         chunks of 128 coordinates at a time, which asynchronous copies bring to shared memory while the previous
//         chunks are multiplied. Queries of up to 128 coordinates are copied once and stay. With few dimensions a chunk
//         holds several base tiles, one after the other in its coordinates, so that there are fewer barriers. A warp
//         has 64 × 32 pairs, of which a thread has 8 × 8.
// Layout  a row of a chunk has 256 bytes in 16 vectors, vector v at index v ^ (row % 8), so that eight rows are read
//         from different banks.
// Cost    for a block and a tile: 16384 products a coordinate, for which a chunk's 32 KiB come from the L2 cache; a
//         finish and the kernel's own work for each of a thread's 64 scores. An H200 does 440 products a clock and
//         multiprocessor at d = 128, a third of what its tensor cores could with these instructions: threads wait at
//         barriers. Below 32 dimensions the work on the scores is most of it.
// Limits  rows as Fp16Rows has them.
#pragma once

#include "cuda/distance/register_tiled.cuh"
#include "cuda/points/fp16_rows.hpp"
#include "cuda/runtime/tensor_core.cuh"

namespace kith::KITH_BACKEND::distance {

struct Fp16TileShape {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kBlocks = 2;                  // blocks of a multiprocessor at once
  static constexpr unsigned kPoints = 128;                // points of a tile, of either set
  static constexpr unsigned kRows = 8;                    // a thread's queries
  static constexpr unsigned kColumns = 8;                 // a thread's base points
  static constexpr unsigned kDepth = 128;                 // coordinates of a chunk
  static constexpr unsigned kStep = 16;                   // coordinates that are multiplied at a time
  static constexpr unsigned kVector = 8;                  // coordinates of 16 bytes
  static constexpr unsigned kVectors = kDepth / kVector;  // vectors of a row
  static constexpr unsigned kStages = 2;
  static constexpr unsigned kMaxTiles = 32;  // tiles that a block runs through
  static constexpr unsigned kWarpRows = 64;
  static constexpr unsigned kWarpColumns = 32;

  static constexpr unsigned kChunk = kPoints * kDepth;  // values of a chunk
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
  unsigned packed;       // base tiles of a chunk: one, unless there is but one chunk
  unsigned query_tiles;  // neighboring blocks have other queries and the same base tiles, for the cache
  unsigned base_tiles;
  unsigned tiles_each;

  // The tiles of the calling block.
  __device__ unsigned query_tile() const { return blockIdx.x % query_tiles; }
  __device__ unsigned first_base_tile() const { return blockIdx.x / query_tiles * tiles_each; }
  __device__ std::int64_t first_query() const { return std::int64_t{query_tile()} * Shape::kPoints; }
  __device__ std::int64_t first_point() const { return std::int64_t{first_base_tile()} * Shape::kPoints; }

  std::int64_t blocks() const { return query_tiles * ceil_div(base_tiles, tiles_each); }
  std::size_t shared_bytes() const {
    return sizeof(Fp16) * Shape::kChunk * (Shape::kStages + query_stages()) +
           sizeof(float) * Shape::kStages * packed * Shape::kPoints;
  }

  __host__ __device__ bool queries_resident() const { return chunks == 1; }
  __host__ __device__ unsigned query_stages() const { return queries_resident() ? 1 : Shape::kStages; }
  // Multiplication steps of a chunk; of one tile, where it holds several.
  __host__ __device__ unsigned steps(unsigned chunk) const {
    const unsigned left = stride - chunk * Shape::kDepth;
    return ((left < Shape::kDepth ? left : Shape::kDepth) + Shape::kStep - 1) / Shape::kStep;
  }
  // Vectors of a tile in a chunk's row.
  __host__ __device__ unsigned vectors(unsigned chunk) const { return steps(chunk) * (Shape::kStep / Shape::kVector); }
};

// Both sets must have at least one point.
inline Fp16TileWork plan_fp16_tiles(const Fp16Rows& queries, const Fp16Rows& base, const float* bias) {
  using Shape = Fp16TileShape;
  const std::int64_t query_tiles = ceil_div(queries.count, Shape::kPoints);
  const std::int64_t base_tiles = ceil_div(base.count, Shape::kPoints);
  const auto chunks = static_cast<unsigned>(ceil_div(queries.stride, Shape::kDepth));
  const double unscale = 1 / (queries.scale * base.scale);
  Fp16TileWork work = {
      .queries = queries.data,
      .base = base.data,
      .query_count = queries.count,
      .base_count = base.count,
      .base_stride = base.stride,
      .bias = bias,
      .scale = static_cast<float>(bias != nullptr ? -2 * unscale : -unscale),
      .stride = static_cast<unsigned>(queries.stride),
      .chunks = chunks,
      .packed = 1,
      .query_tiles = static_cast<unsigned>(query_tiles),
      .base_tiles = static_cast<unsigned>(base_tiles),
      .tiles_each = best_tiles_each(query_tiles, base_tiles, std::int64_t{Shape::kBlocks} * multiprocessor_count(),
                                    Shape::kMaxTiles)};
  if (chunks == 1) work.packed = Shape::kVectors / work.vectors(0);
  return work;
}

// The pairs of the tile that a thread has: rows are queries, columns base points.
struct Fp16ThreadPairs {
  using Shape = Fp16TileShape;
  unsigned first_row;
  unsigned first_column;

  __device__ explicit Fp16ThreadPairs(unsigned thread) {
    const unsigned warp = thread / kWarp;
    const unsigned lane = thread % kWarp;
    first_row = warp / 4 * Shape::kWarpRows + lane / 4;
    first_column = warp % 4 * Shape::kWarpColumns + lane % 4 * 2;
  }

  __device__ unsigned row(unsigned i) const { return first_row + 8 * i; }
  __device__ unsigned column(unsigned j) const { return first_column + j / 2 * 8 + j % 2; }

  __device__ __forceinline__ void load_rows(const float* array, float (&values)[Shape::kRows]) const {
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kRows; ++i) values[i] = array[row(i)];
  }
  __device__ __forceinline__ void load_columns(const float* array, float (&values)[Shape::kRows]) const {
    KITH_UNROLL
    for (unsigned j = 0; j < Shape::kColumns; ++j) values[j] = array[column(j)];
  }
};

// Addresses of chunks in the block's shared memory.
struct Fp16TileMemory {
  using Shape = Fp16TileShape;

  __device__ static Fp16* base(unsigned stage) { return dynamic_shared<Fp16>() + stage * Shape::kChunk; }
  __device__ static Fp16* queries(const Fp16TileWork& work, unsigned chunk, unsigned stage) {
    return base(Shape::kStages) + (work.queries_resident() ? chunk : stage) * Shape::kChunk;
  }
  // The bias of the tiles whose last chunk the stage holds.
  __device__ static float* bias(const Fp16TileWork& work, unsigned stage) {
    return reinterpret_cast<float*>(base(Shape::kStages + work.query_stages())) + stage * work.packed * Shape::kPoints;
  }
  __device__ static unsigned after(unsigned stage) { return stage + 1 < Shape::kStages ? stage + 1 : 0; }
  __device__ static unsigned before(unsigned stage) { return stage > 0 ? stage - 1 : Shape::kStages - 1; }
  // Offset of a row's vector, in values.
  __device__ static unsigned offset(unsigned row, unsigned vector) {
    return row * Shape::kDepth + (vector ^ row % 8) * Shape::kVector;
  }
};

// Copies a chunk of `tiles` tiles of rows, one after the other in its vectors: only vectors that will be multiplied,
// and zeros for missing rows.
__device__ __forceinline__ void copy_fp16_chunk(const Fp16* rows, std::int64_t first, std::int64_t count,
                                                std::int64_t stride, const Fp16TileWork& work, unsigned chunk,
                                                unsigned tiles, Fp16* to) {
  using Shape = Fp16TileShape;
  constexpr unsigned kRows = Shape::kThreads / Shape::kVectors;  // rows that are copied at a time
  const unsigned vector = threadIdx.x % Shape::kVectors;
  const unsigned row = threadIdx.x / Shape::kVectors;
  const unsigned tile = vector / work.vectors(chunk);
  if (tile >= tiles) return;
  const unsigned coordinate = chunk * Shape::kDepth + vector % work.vectors(chunk) * Shape::kVector;
  const std::int64_t first_row = first + tile * Shape::kPoints + row;
  const bool there = coordinate < work.stride;
  const auto* from = reinterpret_cast<const float4*>(rows + first_row * stride + coordinate);
  const SharedAddress<float4> target(reinterpret_cast<float4*>(to + Fp16TileMemory::offset(row, vector)));
  KITH_UNROLL
  for (unsigned i = 0; i < Shape::kPoints; i += kRows) {
    target.copy_async_or_zero(i * Shape::kVectors, from, there && first_row + i < count);
    from += kRows * stride / Shape::kVector;
  }
}

// Copies the block's chunks in the order in which they are multiplied.
struct Fp16Copies {
  using Shape = Fp16TileShape;
  using Memory = Fp16TileMemory;

  unsigned end_tile;
  unsigned tile;
  unsigned chunk = 0;
  bool with_queries = true;

  // Starts to copy the next chunk, if there is one.
  __device__ __forceinline__ void start_next(const Fp16TileWork& work, unsigned stage) {
    if (tile < end_tile) {
      const std::int64_t first = std::int64_t{tile} * Shape::kPoints;
      if (with_queries)
        copy_fp16_chunk(work.queries, work.first_query(), work.query_count, work.stride, work, chunk, 1,
                        Memory::queries(work, chunk, stage));
      copy_fp16_chunk(work.base, first, work.base_count, work.base_stride, work, chunk, work.packed,
                      Memory::base(stage));
      if (++chunk == work.chunks) {
        copy_bias(work, first, stage);
        chunk = 0;
        tile += work.packed;
        with_queries = !work.queries_resident();
      }
    }
    commit_copies();
  }

 private:
  __device__ __forceinline__ static void copy_bias(const Fp16TileWork& work, std::int64_t first, unsigned stage) {
    for (unsigned i = threadIdx.x; i < work.packed * Shape::kPoints; i += Shape::kThreads)
      SharedAddress<float>(Memory::bias(work, stage) + i)
          .copy_async_or_zero(0, work.bias + first + i, work.bias != nullptr && first + i < work.base_count);
  }
};

// A warp's 64 × 32 sums; the thread's lie as tensor_core.cuh says, [16 rows][8 columns].
using Fp16Sums = float[4][4][4];

// Multiplies a chunk of queries with a base tile whose vectors begin at `vector`.
__device__ __forceinline__ void add_fp16_chunk(const Fp16* queries, const Fp16* base, unsigned vector, unsigned steps,
                                               Fp16Sums& sums) {
  using Shape = Fp16TileShape;
  using Memory = Fp16TileMemory;
  const unsigned lane = lane_id();
  const unsigned query_row = warp_id() / 4 * Shape::kWarpRows + lane % 16;
  const unsigned base_row = warp_id() % 4 * Shape::kWarpColumns + lane / 16 * 8 + lane % 8;
#pragma unroll 1
  for (unsigned step = 0; step < steps; ++step) {
    unsigned right[2][4];
    KITH_UNROLL
    for (unsigned pair = 0; pair < 2; ++pair)
      load_fragments(base + Memory::offset(base_row + 16 * pair, vector + 2 * step + lane / 8 % 2), right[pair]);
    KITH_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      unsigned left[4];
      load_fragments(queries + Memory::offset(query_row + 16 * i, 2 * step + lane / 16), left);
      KITH_UNROLL
      for (unsigned j = 0; j < 4; ++j)
        multiply_fragments(left, right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1], sums[i][j]);
    }
  }
}

// The body of a kernel with the threads of Fp16TileShape and the blocks and shared memory of Fp16TileWork. Every thread
// calls tile_done(pairs, tile, scores) for each of the block's base tiles, counted from its first; at least one barrier
// lies between the start of the kernel and the first call.
template <class TileDone>
__device__ __forceinline__ void compute_fp16_tiles(const Fp16TileWork& work, const TileDone& tile_done) {
  using Shape = Fp16TileShape;
  using Memory = Fp16TileMemory;
  const Fp16ThreadPairs pairs(threadIdx.x);
  const unsigned first_tile = work.first_base_tile();
  const unsigned end_tile = min(first_tile + work.tiles_each, work.base_tiles);

  Fp16Copies copies{end_tile, first_tile};
  for (unsigned i = 0; i + 1 < Shape::kStages; ++i) copies.start_next(work, i);
  unsigned stage = 0;
  for (unsigned tile = first_tile; tile < end_tile; ++tile) {
    const unsigned tile_in_chunk = (tile - first_tile) % work.packed;
    unsigned last_stage = stage;  // the stage of its last chunk
    Fp16Sums sums = {};
    for (unsigned chunk = 0; chunk < work.chunks; ++chunk) {
      if (tile_in_chunk == 0) {
        wait_for_copies<Shape::kStages - 2>();
        __syncthreads();  // the chunk has arrived, and no thread reads the previous one: its stage is filled next
        copies.start_next(work, Memory::before(stage));
      }
      add_fp16_chunk(Memory::queries(work, chunk, stage), Memory::base(stage), tile_in_chunk * work.vectors(chunk),
                     work.steps(chunk), sums);
      last_stage = stage;
      if (tile_in_chunk + 1 == work.packed) stage = Memory::after(stage);
    }
    float bias[Shape::kColumns];
    pairs.load_columns(Memory::bias(work, last_stage) + tile_in_chunk * Shape::kPoints, bias);
    float scores[Shape::kRows][Shape::kColumns];
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kRows; ++i) KITH_UNROLL
    for (unsigned j = 0; j < Shape::kColumns; ++j)
      scores[i][j] = fmaf(work.scale, sums[i / 2][j / 2][i % 2 * 2 + j % 2], bias[j]);
    tile_done(pairs, tile - first_tile, scores);
  }
}

}  // namespace kith::KITH_BACKEND::distance
