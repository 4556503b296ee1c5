// register_tiled.cuh: the tiles of kernels that combine many queries with many base points.
// Idea    a matrix product with other operators (Hanák, 3.3 and 5.2; forms.cuh). A block of 128 threads has a tile of
//         kPoints queries × kPoints base points, a thread kRows × kColumns pairs of it in registers: 128, 16 and 8 in
//         float, half of each in double. With 8 × 8, shared memory would be as busy as the arithmetic. The block runs
//         through several base tiles, chunks of kDepth coordinates at a time, which asynchronous copies bring to shared
//         memory while the previous chunks are computed; rows are transposed on the way, panels (panels.hpp) already
//         are. Queries of up to kResident chunks are copied once and stay (as in the kernel of Kruliš et al.; Hanák,
//         3.3.2). With few dimensions a chunk holds several base tiles, one after the other in its coordinates, so that
//         there are fewer barriers.
// Layout  warps lie 2 × 2 in a tile and lanes 4 × 8 in a warp; a thread's points are pieces of 16 bytes, four of
// queries
//         and two of base points, so that a warp reads 64 bytes of the former or 128 of the latter without bank
//         conflicts, and neighboring lanes hold neighboring scores.
// Cost    estimated, in float, for a thread and a chunk of 32 coordinates: 4096 operations of a product (8192 of the
//         other forms), 192 loads of 16 bytes from shared memory, about 150 instructions to copy each set that is
//         streamed from rows, 20 from panels, and 60 around them: 1.1 … 1.15 a pair and coordinate of a product, where
//         one is the floor.
// Order   coordinates are added one by one in ascending order, whatever the launch: all kernels made of these tiles
// give
//         the same bits.
// Limits  any strides and alignment.
#pragma once

#include "cuda/distance/forms.cuh"
#include "cuda/distance/scores.hpp"
#include "cuda/primitives/row_vectors.cuh"
#include "cuda/runtime/async_copy.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::distance {

template <class F>
struct TileShape {
  static constexpr unsigned kThreads = 128;
  static constexpr unsigned kBlocks = 3;              // blocks of a multiprocessor at once
  static constexpr unsigned kPiece = 16 / sizeof(F);  // neighbors that a thread reads together
  static constexpr unsigned kRows = 4 * kPiece;       // a thread's queries
  static constexpr unsigned kColumns = 2 * kPiece;    // a thread's base points
  static constexpr unsigned kPoints = 32 * kPiece;    // a block's points of either set
  // With this pitch, lanes that copy 8 coordinates of neighboring points write to different banks.
  static constexpr unsigned kPitch = kPoints + kPiece;
  static constexpr unsigned kDepth = 32;  // coordinates of a chunk
  static constexpr unsigned kStep = 8;    // coordinates that are copied at a time
  static constexpr unsigned kStages = 2;
  static constexpr unsigned kResident = 2;   // resident chunks of queries: more would leave memory for fewer blocks
  static constexpr unsigned kMaxTiles = 32;  // tiles that a block runs through
  static constexpr unsigned kChunk = kDepth * kPitch;  // values of a chunk
  static constexpr unsigned kMaxPacked = 8;            // base tiles of a chunk

  // Bytes of dynamic shared memory that a block needs at most.
  static constexpr std::size_t kMaxBytes =
      sizeof(F) * (kStages * (kChunk + kMaxPacked * kPoints) + (kStages > kResident ? kStages : kResident) * kChunk);
};

// The scores of a thread.
template <class F>
using TileScores = F[TileShape<F>::kRows][TileShape<F>::kColumns];

template <class F>
struct TileWork {
  PointRows<F> queries;
  PointRows<F> base;
  const F* bias;  // one a base point, or null
  unsigned dims;
  unsigned chunks;        // of the coordinates, at least one
  unsigned packed;        // base tiles of a chunk: one, unless there is but one chunk
  bool queries_resident;  // in shared memory
  unsigned query_tiles;   // neighboring blocks have other queries and the same base tiles, for the cache
  unsigned base_tiles;
  unsigned tiles_each;              // base tiles of a block; the last may have fewer
  const F* query_panels = nullptr;  // the points as panels, of both sets or of none; null: rows are read
  const F* base_panels = nullptr;

  // The tiles of the calling block.
  __device__ unsigned query_tile() const { return blockIdx.x % query_tiles; }
  __device__ unsigned first_base_tile() const { return blockIdx.x / query_tiles * tiles_each; }
  __device__ std::int64_t first_query() const { return std::int64_t{query_tile()} * TileShape<F>::kPoints; }
  __device__ std::int64_t first_point() const { return std::int64_t{first_base_tile()} * TileShape<F>::kPoints; }

  // Coordinates of a tile in a chunk.
  __device__ unsigned depth() const { return TileShape<F>::kDepth / packed; }

  std::int64_t blocks() const { return query_tiles * ceil_div(base_tiles, tiles_each); }
  std::size_t shared_bytes() const {
    using Shape = TileShape<F>;
    const std::size_t query_chunks = queries_resident ? chunks : Shape::kStages;
    return sizeof(F) * (Shape::kStages * base_stage() + query_chunks * Shape::kChunk);
  }
  // Values of a stage: a chunk, and the bias of its tiles.
  __host__ __device__ unsigned base_stage() const { return TileShape<F>::kChunk + packed * TileShape<F>::kPoints; }
};

// Returns the base tiles of a block that take the least time: with few of them, starting blocks, which costs about half
// a tile each, counts; with many, multiprocessors idle in the last round of blocks. Times are counted in half tiles.
inline unsigned best_tiles_each(std::int64_t query_tiles, std::int64_t base_tiles, std::int64_t blocks_at_once,
                                unsigned most) {
  unsigned best = 1;
  std::int64_t least = 0;
  for (unsigned tiles = 1; tiles <= most && tiles <= base_tiles; ++tiles) {
    const std::int64_t rounds = ceil_div(query_tiles * ceil_div(base_tiles, tiles), blocks_at_once);
    const std::int64_t half_tiles = rounds * (2 * std::int64_t{tiles} + 1);
    if (tiles > 1 && half_tiles >= least) continue;
    best = tiles;
    least = half_tiles;
  }
  return best;
}

// Base tiles that fit into a chunk.
template <class F>
unsigned packed_tiles(std::int64_t dims) {
  using Shape = TileShape<F>;
  if (dims <= Shape::kDepth / Shape::kMaxPacked) return Shape::kMaxPacked;
  if (dims <= Shape::kDepth / 4) return 4;
  return dims <= Shape::kDepth / 2 ? 2 : 1;
}

// Both sets must have at least one point. `bias` is for the form squared.
template <class F>
TileWork<F> plan_tiles(const PointRows<F>& queries, const PointRows<F>& base, std::int64_t dims, const F* bias) {
  using Shape = TileShape<F>;
  const std::int64_t query_tiles = ceil_div(queries.count, Shape::kPoints);
  const std::int64_t base_tiles = ceil_div(base.count, Shape::kPoints);
  const std::int64_t blocks_at_once = std::int64_t{Shape::kBlocks} * multiprocessor_count();
  const auto chunks = static_cast<unsigned>(dims > 0 ? ceil_div(dims, Shape::kDepth) : 1);
  return {.queries = queries,
          .base = base,
          .bias = bias,
          .dims = static_cast<unsigned>(dims),
          .chunks = chunks,
          .packed = packed_tiles<F>(dims),
          .queries_resident = chunks <= Shape::kResident,
          .query_tiles = static_cast<unsigned>(query_tiles),
          .base_tiles = static_cast<unsigned>(base_tiles),
          .tiles_each = best_tiles_each(query_tiles, base_tiles, blocks_at_once, Shape::kMaxTiles)};
}

// threadIdx.x, read again, so that values derived from it take no registers from one chunk to the next, which need them
// all.
__device__ __forceinline__ unsigned reread_thread() {
#if defined(KITH_IS_EMULATED)
  return threadIdx.x;
#else
  unsigned thread;
  asm volatile("mov.u32 %0, %%tid.x;\n" : "=r"(thread));
  return thread;
#endif
}

// The pairs of the tile that a thread has: rows are queries, columns base points.
template <class F>
struct ThreadPairs {
  using Shape = TileShape<F>;
  static constexpr unsigned kRowsApart = 4 * Shape::kPiece;  // from one piece to the next
  static constexpr unsigned kColumnsApart = 8 * Shape::kPiece;

  unsigned first_row;
  unsigned first_column;

  __device__ explicit ThreadPairs(unsigned thread) {
    const unsigned warp = thread / kWarp;
    const unsigned lane = thread % kWarp;
    first_row = warp / 2 * 4 * Shape::kRows + lane / 8 * Shape::kPiece;
    first_column = warp % 2 * 8 * Shape::kColumns + lane % 8 * Shape::kPiece;
  }

  __device__ unsigned row(unsigned i) const { return first_row + i / Shape::kPiece * kRowsApart + i % Shape::kPiece; }
  __device__ unsigned column(unsigned j) const {
    return first_column + j / Shape::kPiece * kColumnsApart + j % Shape::kPiece;
  }

  // Loads the values of the thread's rows, or columns, from an array in shared memory with one value for each of the
  // tile.
  __device__ __forceinline__ void load_rows(const F* array, F (&values)[Shape::kRows]) const {
    load<kRowsApart>(array + first_row, values);
  }
  __device__ __forceinline__ void load_columns(const F* array, F (&values)[Shape::kColumns]) const {
    load<kColumnsApart>(array + first_column, values);
  }

 private:
  template <unsigned kApart, unsigned kCount>
  __device__ __forceinline__ static void load(const F* from, F (&values)[kCount]) {
    using Vector = typename VectorOf<F>::Type;
    KITH_UNROLL
    for (unsigned piece = 0; piece < kCount / Shape::kPiece; ++piece) {
      F part[Shape::kPiece];
      RowVectors<F>::unpack(*reinterpret_cast<const Vector*>(from + piece * kApart), part);
      KITH_UNROLL
      for (unsigned i = 0; i < Shape::kPiece; ++i) values[piece * Shape::kPiece + i] = part[i];
    }
  }
};

// Copies kDepth coordinates, from `coordinate` on, of a tile of points: coordinate c of point r to to[c * kPitch + r].
// Rows and coordinates past the end become zeros; steps without a coordinate are not copied. Lanes lie 8 coordinates ×
// 4 points, which are whole sectors of global memory and all banks of shared memory. kFull: all rows exist, which saves
// checks that cost as much as the copies.
template <bool kFull, class F>
__device__ __forceinline__ void copy_rows(const PointRows<F>& points, std::int64_t first, unsigned coordinate,
                                          unsigned dims, F* to) {
  using Shape = TileShape<F>;
  constexpr unsigned kRows = Shape::kThreads / Shape::kStep;  // rows that are copied at a time
  const unsigned thread = reread_thread();
  const unsigned c = thread % Shape::kStep;
  const unsigned r = thread / Shape::kStep;
  const F* from = points.data + (first + r) * points.stride + coordinate + c;
  const std::int64_t rows_apart = kRows * points.stride;
  const SharedAddress<F> target(to + c * Shape::kPitch + r);
  KITH_UNROLL
  for (unsigned i = 0; i < Shape::kPoints; i += kRows) {
    const bool row_there = kFull || first + r + i < points.count;
    KITH_UNROLL
    for (unsigned j = 0; j < Shape::kDepth; j += Shape::kStep)
      if (coordinate + j < dims)
        target.copy_async_or_zero(j * Shape::kPitch + i, from + j, row_there && coordinate + j + c < dims);
    from += rows_apart;
  }
}

template <class F>
__device__ __forceinline__ void copy_chunk(const PointRows<F>& points, unsigned tile, unsigned coordinate,
                                           unsigned dims, F* to) {
  const std::int64_t first = std::int64_t{tile} * TileShape<F>::kPoints;
  if (first + TileShape<F>::kPoints <= points.count)
    copy_rows<true>(points, first, coordinate, dims, to);
  else
    copy_rows<false>(points, first, coordinate, dims, to);
}

// copy_chunk() from a panel, whose rows are whole. Coordinates past the end are not copied: no thread reads them.
template <class F>
__device__ __forceinline__ void copy_panel(const F* panels, unsigned tile, unsigned coordinate, unsigned dims, F* to) {
  using Shape = TileShape<F>;
  using Vector = typename VectorOf<F>::Type;
  constexpr unsigned kPieces = Shape::kPoints / Shape::kPiece;  // pieces of a coordinate
  constexpr unsigned kCoordinates = Shape::kThreads / kPieces;  // coordinates that are copied at a time
  const unsigned thread = reread_thread();
  const auto* from =
      reinterpret_cast<const Vector*>(panels + (std::int64_t{tile} * dims + coordinate) * Shape::kPoints) + thread;
  const unsigned c = thread / kPieces;
  const SharedAddress<Vector> target(
      reinterpret_cast<Vector*>(to + c * Shape::kPitch + thread % kPieces * Shape::kPiece));
  KITH_UNROLL
  for (unsigned j = 0; j < Shape::kDepth; j += kCoordinates)
    target.copy_async_or_zero(j * Shape::kPitch / Shape::kPiece, from + j * kPieces, coordinate + j + c < dims);
}

// Copies several tiles of few coordinates: coordinate c of tile t goes to where coordinate t · depth + c would.
template <class F>
__device__ __forceinline__ void copy_packed(const TileWork<F>& work, unsigned tile, F* to) {
  using Shape = TileShape<F>;
  constexpr unsigned kRows = Shape::kThreads / Shape::kStep;
  const unsigned thread = reread_thread();
  const unsigned r = thread / Shape::kStep;
  for (unsigned column = thread % Shape::kStep; column < Shape::kDepth; column += Shape::kStep) {
    const unsigned c = column % work.depth();
    const std::int64_t first = std::int64_t{tile + column / work.depth()} * Shape::kPoints + r;
    const F* from = work.base.data + first * work.base.stride + c;
    const SharedAddress<F> target(to + column * Shape::kPitch + r);
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kPoints; i += kRows) {
      target.copy_async_or_zero(i, from, c < work.dims && first + i < work.base.count);
      from += kRows * work.base.stride;
    }
  }
}

// Addresses of chunks in the block's shared memory.
template <class F>
struct TileMemory {
  using Shape = TileShape<F>;

  __device__ static F* base(const TileWork<F>& work, unsigned stage) {
    return dynamic_shared<F>() + stage * work.base_stage();
  }
  // The bias of the tiles whose last chunk the stage holds.
  __device__ static F* bias(const TileWork<F>& work, unsigned stage) { return base(work, stage) + Shape::kChunk; }
  __device__ static F* queries(const TileWork<F>& work, unsigned chunk, unsigned stage) {
    return base(work, Shape::kStages) + (work.queries_resident ? chunk : stage) * Shape::kChunk;
  }
  __device__ static unsigned after(unsigned stage) { return stage + 1 < Shape::kStages ? stage + 1 : 0; }
  __device__ static unsigned before(unsigned stage) { return stage > 0 ? stage - 1 : Shape::kStages - 1; }
};

// Copies the block's chunks in the order in which they are computed: through the coordinates of a base tile, tile by
// tile.
template <class F, bool kHasBias>
struct ChunkCopies {
  using Shape = TileShape<F>;
  using Memory = TileMemory<F>;

  unsigned query_tile;
  unsigned end_tile;
  unsigned tile;
  unsigned chunk = 0;
  bool with_queries = true;

  // Starts to copy the next chunk, if there is one.
  __device__ __forceinline__ void start_next(const TileWork<F>& work, unsigned stage) {
    if (tile < end_tile) {
      const unsigned coordinate = chunk * Shape::kDepth;
      if (with_queries)
        copy_points(work.query_panels, work.queries, query_tile, coordinate, work.dims,
                    Memory::queries(work, chunk, stage));
      if (work.packed > 1)
        copy_packed(work, tile, Memory::base(work, stage));
      else
        copy_points(work.base_panels, work.base, tile, coordinate, work.dims, Memory::base(work, stage));
      if (++chunk == work.chunks) {
        if constexpr (kHasBias) copy_bias(work, stage);
        chunk = 0;
        tile += work.packed;
        with_queries = !work.queries_resident;
      }
    }
    commit_copies();
  }

 private:
  __device__ __forceinline__ static void copy_points(const F* panels, const PointRows<F>& points, unsigned from,
                                                     unsigned coordinate, unsigned dims, F* to) {
    if (panels != nullptr)
      copy_panel(panels, from, coordinate, dims, to);
    else
      copy_chunk(points, from, coordinate, dims, to);
  }

  __device__ __forceinline__ void copy_bias(const TileWork<F>& work, unsigned stage) const {
    for (unsigned i = reread_thread(); i < work.packed * Shape::kPoints; i += Shape::kThreads) {
      const std::int64_t point = std::int64_t{tile} * Shape::kPoints + i;
      SharedAddress<F>(Memory::bias(work, stage) + i)
          .copy_async_or_zero(0, work.bias + point, work.bias != nullptr && point < work.base.count);
    }
  }
};

// Adds kCount coordinates to the sums.
template <unsigned kCount, class F, class Form>
__device__ __forceinline__ void add_coordinates(const Form& form, const ThreadPairs<F>& pairs, const F* queries,
                                                const F* base, TileScores<F>& sums) {
  using Shape = TileShape<F>;
  KITH_UNROLL
  for (unsigned c = 0; c < kCount; ++c) {
    F x[Shape::kRows];
    F y[Shape::kColumns];
    pairs.load_rows(queries + c * Shape::kPitch, x);
    pairs.load_columns(base + c * Shape::kPitch, y);
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kRows; ++i) KITH_UNROLL
    for (unsigned j = 0; j < Shape::kColumns; ++j) sums[i][j] = form.combine(sums[i][j], x[i], y[j]);
  }
}

template <class F, class Form>
__device__ __forceinline__ void add_chunk(const Form& form, const ThreadPairs<F>& pairs, const F* queries,
                                          const F* base, unsigned coordinates, TileScores<F>& sums) {
  using Shape = TileShape<F>;
  unsigned c = 0;
  if constexpr (!kIsLong<Form>) {
    constexpr unsigned kAtOnce = Form::kHasBias ? 8 : 4;  // more would not fit the instruction cache
#pragma unroll 1
    for (; c + kAtOnce <= coordinates; c += kAtOnce)
      add_coordinates<kAtOnce>(form, pairs, queries + c * Shape::kPitch, base + c * Shape::kPitch, sums);
  }
#pragma unroll 1
  for (; c < coordinates; ++c)
    add_coordinates<1>(form, pairs, queries + c * Shape::kPitch, base + c * Shape::kPitch, sums);
}

// The body of a kernel with the threads of TileShape and the blocks and shared memory of TileWork. Every thread calls
// tile_done(pairs, tile, scores) for each of the block's base tiles, counted from its first; it may change the scores.
// At least one barrier lies between the start of the kernel and the first call.
template <class F, class Form, class TileDone>
__device__ __forceinline__ void compute_tiles(const TileWork<F>& work, const Form& form, const TileDone& tile_done) {
  using Shape = TileShape<F>;
  using Memory = TileMemory<F>;
  const ThreadPairs<F> pairs(threadIdx.x);
  const unsigned query_tile = work.query_tile();
  const unsigned first_tile = work.first_base_tile();
  const unsigned end_tile = min(first_tile + work.tiles_each, work.base_tiles);

  ChunkCopies<F, Form::kHasBias> copies{query_tile, end_tile, first_tile};
  for (unsigned i = 0; i + 1 < Shape::kStages; ++i) copies.start_next(work, i);
  unsigned stage = 0;
  for (unsigned tile = first_tile; tile < end_tile; ++tile) {
    const unsigned tile_in_chunk = (tile - first_tile) % work.packed;
    unsigned last_stage = stage;  // the stage of its last chunk
    TileScores<F> sums = {};
    for (unsigned chunk = 0; chunk < work.chunks; ++chunk) {
      if (tile_in_chunk == 0) {
        wait_for_copies<Shape::kStages - 2>();
        __syncthreads();  // the chunk has arrived, and no thread reads the previous one: its stage is filled next
        copies.start_next(work, Memory::before(stage));
      }
      const unsigned coordinates = min(Shape::kDepth, work.dims - chunk * Shape::kDepth);
      add_chunk(form, pairs, Memory::queries(work, chunk, stage),
                Memory::base(work, stage) + tile_in_chunk * work.depth() * Shape::kPitch, coordinates, sums);
      last_stage = stage;
      if (tile_in_chunk + 1 == work.packed) stage = Memory::after(stage);
    }
    F bias[Shape::kColumns] = {};
    if constexpr (Form::kHasBias)
      pairs.load_columns(Memory::bias(work, last_stage) + tile_in_chunk * Shape::kPoints, bias);
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kRows; ++i) KITH_UNROLL
    for (unsigned j = 0; j < Shape::kColumns; ++j) sums[i][j] = form.finish(sums[i][j], bias[j]);
    tile_done(ThreadPairs<F>(reread_thread()), tile - first_tile, sums);
  }
}

}  // namespace kith::KITH_BACKEND::distance
