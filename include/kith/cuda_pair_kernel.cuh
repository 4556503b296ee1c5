// The kernel that computes a metric of pairs on a device: a matrix product with other operators, ⊗ for a coordinate and
// ⊕ for what joins coordinates. It is compiled three times: by nvcc around a functor of yours
// (kith/cuda_custom_metric.cuh), by NVRTC around a formula at run time, and by the emulator of Kith's tests. So it
// includes nothing but CUDA.
//
// A Metric of numbers F has
//   kState                  how many numbers are kept of a pair
//   kLong                   whether a coordinate takes dozens of instructions, around which loops are not unrolled
//   passes()                how often the coordinates are gone through: more than once where a sum needs another
//   begin(s), before(s, p, dims), add(s, p, x, y, c, dims)   of the state s, pass p and coordinate c
//   finish(s, dims)         the distance, in double
//
// Idea    a block has a tile of queries × base points, a thread kEach × kEach pairs of it in registers. Chunks of
//         kDepth coordinates go through registers into one half of shared memory while the other is computed.
// Layout  points are stored by coordinates: coordinate c of point i at [c · stride + i], so that any tile is read in
//         whole lines. Strides, and first points of tiles, are multiples of kPairAlignment; what is past the end is 0.
// Order   coordinates are added one by one in ascending order, as on the CPU: with -fmad=false and no function of the
//         mathematical library the distances have its bits.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <cuda_runtime.h>
#endif

namespace kith {

inline constexpr unsigned kPairAlignment = 128;
inline constexpr unsigned kPairThreads = 256;

// What a kernel computes.
enum class PairWork : int {
  keys,        // a matrix of distances, in double, rounded once
  candidates,  // the same of the listed points of each query
  scores,      // a matrix of scores, which are distances in the type that is faster
  filter,      // lists of the points whose score is at most the query's limit
};

// Some queries and base points on the device. Values are of the points' type: float or double.
struct PairTile {
  const void* queries = nullptr;
  const void* base = nullptr;
  long long query_stride = 0;
  long long base_stride = 0;
  unsigned query_count = 0;
  unsigned base_count = 0;  // or, of candidates, how many are listed for each query
  unsigned dims = 0;
  // A matrix, or of filter rows of `capacity` scores with their ids; counts may exceed the capacity, what is beyond it
  // is not stored.
  void* out = nullptr;
  long long out_stride = 0;
  const void* limits = nullptr;
  unsigned* counts = nullptr;
  unsigned* ids = nullptr;  // of filter; of candidates what is read
  unsigned capacity = 0;    // of candidates, the number of base points: what is listed beyond them is NaN
  unsigned first_id = 0;
};

namespace pair_kernel {

inline constexpr unsigned kSide = 16;  // threads of a tile's side
inline constexpr unsigned kDepth = 8;

// Pairs of a thread along either side of a tile, so that they fill at most 64 registers.
__host__ __device__ constexpr unsigned each_of(unsigned state, unsigned bytes) {
  const unsigned registers = state * (bytes / 4);
  return registers <= 1 ? 8 : registers <= 4 ? 4 : registers <= 16 ? 2 : 1;
}

// Compilers of the host launch what others have compiled.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(KITH_IS_EMULATED)

// Loops over registers must be unrolled; the emulator's compiler does not know the pragma.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define KITH_PAIR_TEXT(text) _Pragma(#text)
#define KITH_PAIR_UNROLL(count) KITH_PAIR_TEXT(unroll count)
#else
#define KITH_PAIR_UNROLL(count)
#endif

template <class T, unsigned kCount>
struct alignas(sizeof(T) * kCount) Piece {
  T at[kCount];
};

// A tile, of points E whose distances are computed in F.
template <class Metric, class E, class F>
struct Shape {
  static constexpr unsigned kEach = each_of(Metric::kState, sizeof(F));
  static constexpr unsigned kPoints = kSide * kEach;
  static constexpr unsigned kGroup = kEach < 16 / sizeof(F) ? kEach : 16 / sizeof(F);  // neighbors that a thread reads
  static constexpr unsigned kPiece = 16 / sizeof(E);
  static constexpr unsigned kPieces = kDepth * kPoints / kPiece;  // of a chunk
  static constexpr unsigned kLoads = (kPieces + kPairThreads - 1) / kPairThreads;
  static constexpr unsigned kChunk = kDepth * kPoints;
  static constexpr unsigned kShared = 4 * kChunk * sizeof(F);  // bytes: two sets, two stages

  // Number in the tile of point i of the thread's.
  static __device__ __forceinline__ unsigned point(unsigned thread, unsigned i) {
    return i / kGroup * (kSide * kGroup) + thread * kGroup + i % kGroup;
  }
};

// A part of one set on its way: from global memory to registers, later to shared memory.
template <class Shape, class E, class F>
struct Loader {
  using Vector = Piece<E, Shape::kPiece>;
  const E* points;  // the first of the tile
  long long stride;
  unsigned dims;
  Vector parts[Shape::kLoads];

  __device__ __forceinline__ void load(unsigned first) {
    KITH_PAIR_UNROLL()
    for (unsigned n = 0; n < Shape::kLoads; ++n) {
      const unsigned at = threadIdx.x + n * kPairThreads;
      const unsigned c = first + at * Shape::kPiece / Shape::kPoints;
      if (at < Shape::kPieces && c < dims)
        parts[n] = *reinterpret_cast<const Vector*>(points + c * stride + at * Shape::kPiece % Shape::kPoints);
    }
  }
  __device__ __forceinline__ void store(unsigned first, F* chunk) const {
    KITH_PAIR_UNROLL()
    for (unsigned n = 0; n < Shape::kLoads; ++n) {
      const unsigned at = threadIdx.x + n * kPairThreads;
      const unsigned c = first + at * Shape::kPiece / Shape::kPoints;
      if (at >= Shape::kPieces || c >= dims) continue;
      KITH_PAIR_UNROLL()
      for (unsigned i = 0; i < Shape::kPiece; ++i) chunk[at * Shape::kPiece + i] = static_cast<F>(parts[n].at[i]);
    }
  }
};

// The thread's points of a coordinate.
template <class Shape, class F>
__device__ __forceinline__ void read(const F* coordinate, unsigned thread, F (&values)[Shape::kEach]) {
  KITH_PAIR_UNROLL()
  for (unsigned i = 0; i < Shape::kEach; i += Shape::kGroup) {
    const auto part = *reinterpret_cast<const Piece<F, Shape::kGroup>*>(coordinate + Shape::point(thread, i));
    KITH_PAIR_UNROLL()
    for (unsigned j = 0; j < Shape::kGroup; ++j) values[i + j] = part.at[j];
  }
}

template <class Shape, class Metric, class F>
__device__ __forceinline__ void add_coordinate(const Metric& metric, unsigned pass, unsigned c, unsigned dims,
                                               const F* queries, const F* base,
                                               F (&state)[Shape::kEach][Shape::kEach][Metric::kState]) {
  F x[Shape::kEach];
  F y[Shape::kEach];
  read<Shape>(queries, threadIdx.x / kSide, x);
  read<Shape>(base, threadIdx.x % kSide, y);
  KITH_PAIR_UNROLL()
  for (unsigned i = 0; i < Shape::kEach; ++i) KITH_PAIR_UNROLL()
  for (unsigned j = 0; j < Shape::kEach; ++j) metric.add(state[i][j], pass, x[i], y[j], c, dims);
}

template <class O>
struct MatrixOutput {
  const PairTile& tile;
  __device__ __forceinline__ void put(unsigned query, unsigned row, O value) const {
    static_cast<O*>(tile.out)[query * tile.out_stride + row] = value;
  }
};

template <class O>
struct FilterOutput {
  const PairTile& tile;
  __device__ __forceinline__ void put(unsigned query, unsigned row, O value) const {
    if (!(value <= static_cast<const O*>(tile.limits)[query])) return;
    const unsigned at = atomicAdd(tile.counts + query, 1U);
    if (at >= tile.capacity) return;
    static_cast<O*>(tile.out)[query * tile.out_stride + at] = value;
    tile.ids[query * tile.out_stride + at] = tile.first_id + row;
  }
};

// A block's tile. `shared` has Shape::kShared bytes. E: of the points and of what is put out; F: of the arithmetic.
template <template <class> class Output, class E, class F, class Metric>
__device__ __forceinline__ void fill_tile(const Metric& metric, const PairTile& tile, void* shared) {
  using S = Shape<Metric, E, F>;
  F* const chunks = static_cast<F*>(shared);
  const unsigned query_tiles = (tile.query_count + S::kPoints - 1) / S::kPoints;
  const unsigned first_query = blockIdx.x % query_tiles * S::kPoints;
  const unsigned first_row = blockIdx.x / query_tiles * S::kPoints;
  Loader<S, E, F> queries{static_cast<const E*>(tile.queries) + first_query, tile.query_stride, tile.dims, {}};
  Loader<S, E, F> base{static_cast<const E*>(tile.base) + first_row, tile.base_stride, tile.dims, {}};

  F state[S::kEach][S::kEach][Metric::kState];
  KITH_PAIR_UNROLL()
  for (unsigned i = 0; i < S::kEach; ++i) KITH_PAIR_UNROLL()
  for (unsigned j = 0; j < S::kEach; ++j) metric.begin(state[i][j]);

  for (unsigned pass = 0; pass < metric.passes(); ++pass) {
    KITH_PAIR_UNROLL()
    for (unsigned i = 0; i < S::kEach; ++i) KITH_PAIR_UNROLL()
    for (unsigned j = 0; j < S::kEach; ++j) metric.before(state[i][j], pass, tile.dims);
    unsigned stage = 0;
    queries.load(0);
    base.load(0);
    __syncthreads();  // the last chunk of the pass before has been read
    queries.store(0, chunks);
    base.store(0, chunks + S::kChunk);
    __syncthreads();
    for (unsigned first = 0; first < tile.dims; first += kDepth, stage ^= 1) {
      const bool more = first + kDepth < tile.dims;
      if (more) {
        queries.load(first + kDepth);
        base.load(first + kDepth);
      }
      const F* const now = chunks + stage * 2 * S::kChunk;
      const unsigned depth = tile.dims - first < kDepth ? tile.dims - first : kDepth;
      if constexpr (Metric::kLong) {
        KITH_PAIR_UNROLL(1)
        for (unsigned c = 0; c < depth; ++c)
          add_coordinate<S>(metric, pass, first + c, tile.dims, now + c * S::kPoints, now + S::kChunk + c * S::kPoints,
                            state);
      } else {
        KITH_PAIR_UNROLL(4)
        for (unsigned c = 0; c < depth; ++c)
          add_coordinate<S>(metric, pass, first + c, tile.dims, now + c * S::kPoints, now + S::kChunk + c * S::kPoints,
                            state);
      }
      if (more) {
        F* const next = chunks + (stage ^ 1) * 2 * S::kChunk;
        queries.store(first + kDepth, next);
        base.store(first + kDepth, next + S::kChunk);
      }
      __syncthreads();
    }
  }

  const Output<E> output{tile};
  KITH_PAIR_UNROLL()
  for (unsigned i = 0; i < S::kEach; ++i) {
    const unsigned query = first_query + S::point(threadIdx.x / kSide, i);
    KITH_PAIR_UNROLL()
    for (unsigned j = 0; j < S::kEach; ++j) {
      const unsigned row = first_row + S::point(threadIdx.x % kSide, j);
      if (query < tile.query_count && row < tile.base_count)
        output.put(query, row, static_cast<E>(metric.finish(state[i][j], tile.dims)));
    }
  }
}

// A thread for each candidate, in double.
template <class E, class Metric>
__device__ __forceinline__ void fill_candidates(const Metric& metric, const PairTile& tile) {
  const long long at = static_cast<long long>(blockIdx.x) * kPairThreads + threadIdx.x;
  const long long query = at / tile.base_count;
  const long long place = at % tile.base_count;
  if (query >= tile.query_count) return;
  const unsigned id = tile.ids[at];
  E* const out = static_cast<E*>(tile.out) + query * tile.out_stride + place;
  if (id >= tile.capacity) {
    *out = static_cast<E>(__int_as_float(0x7FC00000));
    return;
  }
  const E* const x = static_cast<const E*>(tile.queries) + query;
  const E* const y = static_cast<const E*>(tile.base) + id;
  double state[Metric::kState];
  metric.begin(state);
  for (unsigned pass = 0; pass < metric.passes(); ++pass) {
    metric.before(state, pass, tile.dims);
    for (unsigned c = 0; c < tile.dims; ++c)
      metric.add(state, pass, static_cast<double>(x[c * tile.query_stride]),
                 static_cast<double>(y[c * tile.base_stride]), c, tile.dims);
  }
  *out = static_cast<E>(metric.finish(state, tile.dims));
}

#endif

#if !defined(__CUDACC_RTC__)
// Blocks of a launch, of kPairThreads each. `points`: of a tile's side, Shape::kPoints.
inline long long blocks_of(PairWork work, const PairTile& tile, unsigned points) {
  const auto parts = [](long long whole, long long part) { return (whole + part - 1) / part; };
  if (work == PairWork::candidates)
    return parts(static_cast<long long>(tile.query_count) * tile.base_count, kPairThreads);
  return parts(tile.query_count, points) * parts(tile.base_count, points);
}
#endif

}  // namespace pair_kernel
}  // namespace kith
