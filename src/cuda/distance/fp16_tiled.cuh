// fp16_tiled.cuh: products of many queries with many base points in fp16 on tensor cores (mma.sync), tile by tile, for
// kernels that use the scores in registers.
// Idea    a block (fp16_tile_work.cuh) runs through base tiles, chunks of 32 coordinates at a time, which asynchronous
//         copies bring to shared memory while the kStages chunks before are multiplied. Queries are copied once and
//         stay where there is room. Fragments are loaded a step of 16 coordinates ahead, so that a chunk's memory is
//         free, and the next chunk's first fragments are on their way, before its last products: there is one barrier a
//         chunk, and tensor cores have work on both sides of it.
// Cost    estimated, for a block and a tile: 16384 products a coordinate, for which 256 bytes come from the L2 cache,
//         512 with queries that do not stay; for a warp and a step 32 products and 8 loads of fragments; a finish and
//         the kernel's own work for each of a thread's 128 scores.
// Order   sums are added up in ascending order of coordinates, 16 at a time.
// Limits  rows as Fp16Rows has them.
#pragma once

#include "cuda/distance/fp16_tile_work.cuh"
#include "cuda/runtime/tensor_core.cuh"

namespace kith::KITH_BACKEND::distance {

// A thread's part of the copies of a set's chunks: one vector of every kRows-th row. There are no branches, so that
// they hide among products: what does not exist becomes zeros.
class Fp16RowCopies {
 public:
  using Shape = Fp16TileShape;

  // `first` is the first row of the first tile, and `count` the rows of all tiles.
  __device__ Fp16RowCopies(const Fp16* rows, std::int64_t first, unsigned count, std::int64_t stride)
      : vector_(threadIdx.x % Shape::kVectors),
        row_(threadIdx.x / Shape::kVectors),
        count_(count),
        stride_(stride / Shape::kVector),
        from_(reinterpret_cast<const float4*>(rows) + (first + row_) * stride_ + vector_),
        offset_(Fp16TileMemory::offset(row_, vector_)) {}

  // Starts to copy a chunk, of points of so many coordinates.
  __device__ __forceinline__ void start(unsigned chunk, unsigned coordinates, Fp16* to) const {
    const SharedAddress<float4> target(reinterpret_cast<float4*>(to + offset_));
    const bool there = chunk * Shape::kDepth + vector_ * Shape::kVector < coordinates;
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kPoints / kRows; ++i)
      target.copy_async_or_zero(i * kRows * Shape::kVectors, from_ + i * kRows * stride_,
                                there && row_ + i * kRows < count_);
  }
  // Goes so many chunks and tiles on.
  __device__ __forceinline__ void advance(int chunks, unsigned tiles) {
    from_ += chunks * static_cast<int>(Shape::kVectors) + tiles * Shape::kPoints * stride_;
    row_ += tiles * Shape::kPoints;
  }

 private:
  static constexpr unsigned kRows = Shape::kThreads / Shape::kVectors;  // rows that are copied at a time

  unsigned vector_;
  unsigned row_;
  unsigned count_;
  std::int64_t stride_;  // in vectors
  const float4* from_;
  unsigned offset_;
};

// Copies the block's chunks in the order in which they are multiplied.
template <bool kResident>
class Fp16Copies {
 public:
  using Shape = Fp16TileShape;
  using Memory = Fp16TileMemory;

  // Starts to copy resident queries.
  __device__ __forceinline__ Fp16Copies(const Fp16TileWork& work, unsigned tiles)
      : points_(rows_there(work.base_count - work.first_point(), tiles)),
        base_(work.base, work.first_point(), points_, work.base_stride),
        queries_(work.queries, work.first_query(), rows_there(work.query_count - work.first_query(), 1), work.stride) {
    if constexpr (kResident) {
      for (unsigned chunk = 0; chunk < work.chunks; ++chunk) {
        queries_.start(chunk, work.stride, Memory::queries(chunk));
        queries_.advance(1, 0);
      }
    }
  }

  // Starts to copy the next chunk, and the bias of its tile. Behind the last there are zeros.
  __device__ __forceinline__ void start_next(const Fp16TileWork& work, unsigned stage) {
    const bool last = chunk_ + 1 == work.chunks;  // of the tile
    const int step = last ? 1 - static_cast<int>(work.chunks) : 1;
    base_.start(chunk_, work.stride, Memory::base(stage));
    base_.advance(step, last ? 1 : 0);
    if constexpr (!kResident) {
      queries_.start(chunk_, work.stride, Memory::queries(stage));
      queries_.advance(step, 0);
    }
    start_bias(work);
    commit_copies();
    chunk_ = last ? 0 : chunk_ + 1;
    tile_ += last ? 1 : 0;
  }

 private:
  // Rows of so many tiles that exist, if there are `left`.
  __device__ static unsigned rows_there(std::int64_t left, unsigned tiles) {
    const unsigned rows = tiles * Shape::kPoints;
    return left < rows ? static_cast<unsigned>(left) : rows;
  }
  __device__ __forceinline__ void start_bias(const Fp16TileWork& work) const {
    static_assert(Shape::kThreads == Shape::kPoints);
    const unsigned point = tile_ * Shape::kPoints + threadIdx.x;
    const bool there = work.bias != nullptr && point < points_;
    SharedAddress<float>(Memory::bias(tile_) + threadIdx.x)
        .copy_async_or_zero(0, work.bias + (there ? work.first_point() + point : 0), there);
  }

  unsigned points_;  // of the block's tiles
  Fp16RowCopies base_;
  Fp16RowCopies queries_;
  unsigned tile_ = 0;
  unsigned chunk_ = 0;
};

// A warp's 64 × 64 sums; the thread's lie as tensor_core.cuh says, [16 rows][8 columns].
using Fp16Sums = float[4][8][4];

// What a warp multiplies in a step.
struct Fp16Fragments {
  unsigned queries[4][4];  // of 16 each
  unsigned base[4][4];     // of 16 each

  // Adds the products to the sums.
  __device__ __forceinline__ void multiply(Fp16Sums& sums) const {
    KITH_UNROLL
    for (unsigned i = 0; i < 4; ++i) KITH_UNROLL
    for (unsigned j = 0; j < 8; ++j)
      multiply_fragments(queries[i], base[j / 2][j % 2 * 2], base[j / 2][j % 2 * 2 + 1], sums[i][j]);
  }
};

// Where a lane finds its parts of fragments in a chunk.
class Fp16Lane {
 public:
  using Shape = Fp16TileShape;

  __device__ Fp16Lane()
      : query_(Fp16TileMemory::offset(warp_id() / 2 * Shape::kWarpPoints + lane_id() % 16, lane_id() / 16)),
        base_(Fp16TileMemory::offset(warp_id() % 2 * Shape::kWarpPoints + lane_id() / 16 * 8 + lane_id() % 8,
                                     lane_id() / 8 % 2)) {}

  template <unsigned kStepInChunk>
  __device__ __forceinline__ void load(const Fp16* queries, const Fp16* base, Fp16Fragments& fragments) const {
    constexpr unsigned kBit =
        kStepInChunk * Shape::kStep;  // the swizzle is an exclusive or, and 16 rows do not change it
    KITH_UNROLL
    for (unsigned i = 0; i < 4; ++i) load_fragments(base + (base_ ^ kBit) + i * 16 * Shape::kDepth, fragments.base[i]);
    KITH_UNROLL
    for (unsigned i = 0; i < 4; ++i)
      load_fragments(queries + (query_ ^ kBit) + i * 16 * Shape::kDepth, fragments.queries[i]);
  }

 private:
  unsigned query_;
  unsigned base_;
};

// The body of a kernel with the threads of Fp16TileShape and the blocks and shared memory of Fp16TileWork; kResident is
// what that says of queries. Every thread calls tile_done(tile, sums, bias) for each of the block's base tiles, counted
// from its first; at least one barrier lies between the start of the kernel and the first call.
template <bool kResident, class TileDone>
__device__ __forceinline__ void compute_fp16_tiles(const Fp16TileWork& work, TileDone& tile_done) {
  using Shape = Fp16TileShape;
  using Memory = Fp16TileMemory;
  const Fp16Lane lane;
  const unsigned tiles = min(work.tiles_each, work.base_tiles - work.first_base_tile());

  Fp16Copies<kResident> copies(work, tiles);
#pragma unroll 1
  for (unsigned i = 0; i < Shape::kStages; ++i) copies.start_next(work, i);
  wait_for_copies<Shape::kStages - 1>();
  __syncthreads();
  unsigned stage = 0;
  Fp16Fragments first;
  lane.load<0>(Memory::queries(0), Memory::base(stage), first);
#pragma unroll 1
  for (unsigned tile = 0; tile < tiles; ++tile) {
    Fp16Sums sums = {};
#pragma unroll 1
    for (unsigned chunk = 0; chunk < work.chunks; ++chunk) {
      // All fragments of the chunk are in registers: its stage is filled again. After the last chunk of all, what is
      // loaded is not used.
      const auto load_next = [&] {
        wait_for_copies<Shape::kStages - 2>();
        __syncthreads();
        copies.start_next(work, stage);
        stage = Memory::after(stage);
        const unsigned next = chunk + 1 < work.chunks ? chunk + 1 : 0;
        lane.load<0>(Memory::queries(kResident ? next : stage), Memory::base(stage), first);
      };
      if (work.has_two_steps(chunk)) {
        Fp16Fragments second;
        lane.load<1>(Memory::queries(kResident ? chunk : stage), Memory::base(stage), second);
        first.multiply(sums);
        load_next();
        second.multiply(sums);
      } else {
        first.multiply(sums);
        load_next();
      }
    }
    tile_done(tile, sums, Memory::bias(tile));
  }
}

}  // namespace kith::KITH_BACKEND::distance
