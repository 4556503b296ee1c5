// register_tiled.cuh: the engine of the stages that combine many queries with many base points.
// Idea    a matrix product with other operators (Hanák, 3.3 and 5.2; forms.cuh). A block of 256 threads has a tile of
//         kPoints queries × kPoints base points, a thread kSide × kSide pairs of it in registers: 128 and 8 in float,
//         64 and 4 in double. It runs through several base tiles, chunks of kDepth coordinates at a time, which
//         asynchronous copies bring to shared memory, turned, while the chunks before are computed. Up to kResident
//         chunks, the queries are copied once and stay (as the kernel of Kruliš et al. does; Hanák, 3.3.2).
// Layout  warps lie 4 × 2 in a tile and lanes 4 × 8 in a warp; a thread's points of either set are two pieces of 16
//         bytes, so that a warp reads 64 bytes of queries or 128 of base points, without conflicts, and lanes that
//         follow each other hold scores that do.
// Cost    estimated, in float, for a thread and a chunk of 16 coordinates: 1024 operations of a product (2048 of the
//         other forms), 64 loads of 16 bytes from shared memory, about 50 instructions to copy each set that is
//         streamed, and 30 around them: 1.15 … 1.2 a pair and coordinate of a product, where one is the floor.
// Order   coordinates are added one by one in ascending order, whatever the shape of the work: scores have the same
//         bits in every kernel made of this.
// Limits  any strides and alignment; coordinates are padded with zeros to a multiple of 8.
#pragma once

#include "cuda/distance/forms.cuh"
#include "cuda/distance/scores.hpp"
#include "cuda/runtime/async_copy.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/shared.cuh"
#include "cuda/select/row_vectors.cuh"

namespace kith::KITH_BACKEND {

template <class F>
struct TileShape {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kBlocks = 2;              // that a multiprocessor runs at once
  static constexpr unsigned kPiece = 16 / sizeof(F);  // neighbours that a thread reads together
  static constexpr unsigned kSide = 2 * kPiece;       // a thread's points of either set
  static constexpr unsigned kPoints = 16 * kSide;     // a block's
  // Lanes that copy write 8 coordinates of neighbouring points: into different banks with this distance.
  static constexpr unsigned kPitch = kPoints + kPiece;
  static constexpr unsigned kDepth = 16;
  static constexpr unsigned kStep = 8;  // coordinates that are computed, and copied, at a time
  static constexpr unsigned kStages = 3;
  static constexpr unsigned kResident = 8;
  static constexpr unsigned kMostTiles = 32;  // that a block runs through

  static constexpr unsigned kChunk = kDepth * kPitch;       // values of a chunk
  static constexpr unsigned kBaseStage = kChunk + kPoints;  // with the addends
};

template <class F>
struct TileWork {
  PointRows<F> queries;
  PointRows<F> base;
  const F* addends;  // one a base point, or null
  unsigned dims;
  unsigned chunks;       // of the coordinates, at least one
  bool queries_stay;     // in shared memory
  unsigned query_tiles;  // blocks that follow each other have other queries and the same base tiles, for the cache
  unsigned base_tiles;
  unsigned tiles_each;  // base tiles of a block, but for the last

  std::int64_t blocks() const { return query_tiles * ceil_div(base_tiles, tiles_each); }
  std::size_t shared_bytes() const {
    using Shape = TileShape<F>;
    const std::size_t query_chunks = queries_stay ? chunks : Shape::kStages;
    return sizeof(F) * (Shape::kStages * Shape::kBaseStage + query_chunks * Shape::kChunk);
  }
};

// Base tiles for a block such that the rounds of blocks that fill the device take the least time: with few, starting a
// block, which costs about half a tile, weighs; with many, processors idle in the last round.
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

// Needs at least one point of either set. `addends` count where the form is squared.
template <class F>
TileWork<F> plan_tiles(const PointRows<F>& queries, const PointRows<F>& base, std::int64_t dims, const F* addends) {
  using Shape = TileShape<F>;
  const std::int64_t query_tiles = ceil_div(queries.count, Shape::kPoints);
  const std::int64_t base_tiles = ceil_div(base.count, Shape::kPoints);
  const std::int64_t blocks_at_once = std::int64_t{Shape::kBlocks} * processor_count();
  const auto chunks = static_cast<unsigned>(dims > 0 ? ceil_div(dims, Shape::kDepth) : 1);
  return {.queries = queries,
          .base = base,
          .addends = addends,
          .dims = static_cast<unsigned>(dims),
          .chunks = chunks,
          .queries_stay = chunks <= Shape::kResident,
          .query_tiles = static_cast<unsigned>(query_tiles),
          .base_tiles = static_cast<unsigned>(base_tiles),
          .tiles_each = best_tiles_each(query_tiles, base_tiles, blocks_at_once, Shape::kMostTiles)};
}

// threadIdx.x, read anew: what is derived from it is not kept in registers from one chunk to the next, which need them
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

// Which pairs of the tile a thread has: rows are queries, columns base points.
template <class F>
struct ThreadPairs {
  using Shape = TileShape<F>;
  static constexpr unsigned kRowsApart = 4 * Shape::kPiece;  // first and second piece
  static constexpr unsigned kColumnsApart = 8 * Shape::kPiece;

  unsigned first_row;
  unsigned first_column;

  __device__ explicit ThreadPairs(unsigned thread) {
    const unsigned warp = thread / kWarp;
    const unsigned lane = thread % kWarp;
    first_row = warp / 2 * 4 * Shape::kSide + lane / 8 * Shape::kPiece;
    first_column = warp % 2 * 8 * Shape::kSide + lane % 8 * Shape::kPiece;
  }

  __device__ unsigned row(unsigned i) const { return first_row + i / Shape::kPiece * kRowsApart + i % Shape::kPiece; }
  __device__ unsigned column(unsigned j) const {
    return first_column + j / Shape::kPiece * kColumnsApart + j % Shape::kPiece;
  }

  // One value for each of the thread's rows, or columns, of an array in shared memory that has one for each of the
  // tile.
  __device__ __forceinline__ void load_rows(const F* array, F (&values)[Shape::kSide]) const {
    load<kRowsApart>(array + first_row, values);
  }
  __device__ __forceinline__ void load_columns(const F* array, F (&values)[Shape::kSide]) const {
    load<kColumnsApart>(array + first_column, values);
  }

 private:
  template <unsigned kApart>
  __device__ __forceinline__ static void load(const F* from, F (&values)[Shape::kSide]) {
    using Vector = typename VectorOf<F>::Type;
    KITH_UNROLL
    for (unsigned piece = 0; piece < 2; ++piece) {
      F part[Shape::kPiece];
      RowVectors<F>::unpack(*reinterpret_cast<const Vector*>(from + piece * kApart), part);
      KITH_UNROLL
      for (unsigned i = 0; i < Shape::kPiece; ++i) values[piece * Shape::kPiece + i] = part[i];
    }
  }
};

// Copies kDepth coordinates, from `coordinate` on, of a tile of points: coordinate c of point r to to[c * kPitch + r],
// zeros for what does not exist. Lanes lie 8 coordinates × 4 points, which are whole sectors of global memory and all
// banks of shared memory. Steps without a coordinate are not copied.
template <class F>
__device__ __forceinline__ void copy_chunk(const PointRows<F>& points, unsigned tile, unsigned coordinate,
                                           unsigned dims, F* to) {
  using Shape = TileShape<F>;
  constexpr unsigned kRows = Shape::kThreads / Shape::kStep;
  const unsigned thread = reread_thread();
  const unsigned c = thread % Shape::kStep;
  const unsigned r = thread / Shape::kStep;
  const std::int64_t first = std::int64_t{tile} * Shape::kPoints;
  const F* from = points.data + (first + r) * points.stride + coordinate + c;
  const std::int64_t rows_apart = kRows * points.stride;
  const unsigned rows = static_cast<unsigned>(min(points.count - first, std::int64_t{Shape::kPoints}));
  to += c * Shape::kPitch + r;
  KITH_UNROLL
  for (unsigned i = 0; i < Shape::kPoints; i += kRows) {
    KITH_UNROLL
    for (unsigned j = 0; j < Shape::kDepth; j += Shape::kStep)
      if (coordinate + j < dims)
        copy_async_or_zero(to + j * Shape::kPitch + i, from + j, r + i < rows && coordinate + j + c < dims);
    from += rows_apart;
  }
}

// Where chunks lie in the block's shared memory.
template <class F>
struct TileMemory {
  using Shape = TileShape<F>;

  __device__ static F* base(unsigned stage) { return dynamic_shared<F>() + stage * Shape::kBaseStage; }
  // Those of the tile whose last chunk the stage holds.
  __device__ static F* addends(unsigned stage) { return base(stage) + Shape::kChunk; }
  __device__ static F* queries(const TileWork<F>& work, unsigned chunk, unsigned stage) {
    return base(Shape::kStages) + (work.queries_stay ? chunk : stage) * Shape::kChunk;
  }
  __device__ static unsigned after(unsigned stage) { return stage + 1 < Shape::kStages ? stage + 1 : 0; }
  __device__ static unsigned before(unsigned stage) { return stage > 0 ? stage - 1 : Shape::kStages - 1; }
};

// Brings the block's chunks in the order in which they are computed: through the coordinates of a base tile, tile by
// tile.
template <class F, bool kHasAddend>
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
        copy_chunk(work.queries, query_tile, coordinate, work.dims, Memory::queries(work, chunk, stage));
      copy_chunk(work.base, tile, coordinate, work.dims, Memory::base(stage));
      if (++chunk == work.chunks) {
        if constexpr (kHasAddend) copy_addends(work, stage);
        chunk = 0;
        ++tile;
        with_queries = !work.queries_stay;
      }
    }
    commit_copies();
  }

 private:
  __device__ __forceinline__ void copy_addends(const TileWork<F>& work, unsigned stage) const {
    const unsigned thread = reread_thread();
    if (thread >= Shape::kPoints) return;
    const std::int64_t point = std::int64_t{tile} * Shape::kPoints + thread;
    copy_async_or_zero(Memory::addends(stage) + thread, work.addends + point,
                       work.addends != nullptr && point < work.base.count);
  }
};

template <class F, class Form>
__device__ __forceinline__ void add_chunk(const Form& form, const ThreadPairs<F>& pairs, const F* queries,
                                          const F* base, unsigned coordinates,
                                          F (&sums)[TileShape<F>::kSide][TileShape<F>::kSide]) {
  using Shape = TileShape<F>;
  constexpr unsigned kUnrolled = kIsPower<Form> ? 1 : Shape::kStep;
#pragma unroll 1
  for (unsigned done = 0; done < coordinates; done += kUnrolled) {
    KITH_UNROLL
    for (unsigned c = 0; c < kUnrolled; ++c) {
      F x[Shape::kSide];
      F y[Shape::kSide];
      pairs.load_rows(queries + c * Shape::kPitch, x);
      pairs.load_columns(base + c * Shape::kPitch, y);
      KITH_UNROLL
      for (unsigned i = 0; i < Shape::kSide; ++i) KITH_UNROLL
      for (unsigned j = 0; j < Shape::kSide; ++j) sums[i][j] = form.combine(sums[i][j], x[i], y[j]);
    }
    queries += kUnrolled * Shape::kPitch;
    base += kUnrolled * Shape::kPitch;
  }
}

// The body of a kernel of TileShape's threads and TileWork's blocks and shared memory. Every thread calls
//   tile_done(pairs, first query, first base point, scores)
// for each base tile, behind at least one barrier; it may change the scores.
template <class F, class Form, class TileDone>
__device__ __forceinline__ void compute_tiles(const TileWork<F>& work, const Form& form, const TileDone& tile_done) {
  using Shape = TileShape<F>;
  using Memory = TileMemory<F>;
  const ThreadPairs<F> pairs(threadIdx.x);
  const unsigned query_tile = blockIdx.x % work.query_tiles;
  const unsigned first_tile = blockIdx.x / work.query_tiles * work.tiles_each;
  const unsigned end_tile = min(first_tile + work.tiles_each, work.base_tiles);

  ChunkCopies<F, Form::kHasAddend> copies{query_tile, end_tile, first_tile};
  for (unsigned i = 0; i + 1 < Shape::kStages; ++i) copies.start_next(work, i);
  unsigned stage = 0;
  for (unsigned tile = first_tile; tile < end_tile; ++tile) {
    F sums[Shape::kSide][Shape::kSide] = {};
    for (unsigned chunk = 0; chunk < work.chunks; ++chunk) {
      wait_for_copies<Shape::kStages - 2>();
      __syncthreads();  // the chunk has landed, and nobody reads the one before: its stage is the next to be filled
      copies.start_next(work, Memory::before(stage));
      const unsigned coordinates = min(Shape::kDepth, work.dims - chunk * Shape::kDepth);
      add_chunk(form, pairs, Memory::queries(work, chunk, stage), Memory::base(stage), coordinates, sums);
      stage = Memory::after(stage);
    }
    F addends[Shape::kSide] = {};
    if constexpr (Form::kHasAddend) pairs.load_columns(Memory::addends(Memory::before(stage)), addends);
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kSide; ++i) KITH_UNROLL
    for (unsigned j = 0; j < Shape::kSide; ++j) sums[i][j] = form.finish(sums[i][j], addends[j]);
    tile_done(ThreadPairs<F>(reread_thread()), std::int64_t{query_tile} * Shape::kPoints,
              std::int64_t{tile} * Shape::kPoints, sums);
  }
}

}  // namespace kith::KITH_BACKEND
