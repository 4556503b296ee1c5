// tiled.cu: scores by tiles of both sets in shared memory, for dozens of queries.
// Idea    a block has a tile of the distance matrix, 32 queries × 32 base points. Slices of 32 coordinates of both pass
//         through shared memory, from which a thread adds up 2 × 2 pairs, 16 apart.
// Paper   Kuang et al., as Hanák, 3.3.2, describes them; there a thread has one pair.
// Cost    a coordinate of a base point is read from memory once for 32 queries; a pair reads one value from shared
//         memory a coordinate and does one or two operations, so that shared memory is the limit: 32 pairs' coordinates
//         a cycle and multiprocessor, half of what the operations of a square would allow.
// Limits  none but the grid's: any strides and any alignment.
#include "cuda/distance/forms.cuh"
#include "cuda/distance/scores.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::distance {
namespace {

struct TiledShape {
  static constexpr unsigned kSide = 32;  // points of either set, and coordinates of a slice
  static constexpr unsigned kEach = 2;   // points of either set that a thread combines
  static constexpr unsigned kApart = kSide / kEach;
  static constexpr unsigned kThreads = kApart * kApart;
  // With this pitch, threads that read one coordinate of neighboring points use different banks, in double too.
  static constexpr unsigned kPitch = kSide + 1;
  static constexpr unsigned kSize = kSide * kPitch;
};

// Loads a slice of kSide points from `first` on, a warp a point; rows and coordinates past the end become zeros, which
// add nothing.
template <class F>
__device__ __forceinline__ void load_slice(const PointRows<F>& points, std::int64_t first, unsigned from, unsigned dims,
                                           F* tile) {
  const unsigned c = from + lane_id();
  KITH_UNROLL
  for (unsigned i = warp_id(); i < TiledShape::kSide; i += TiledShape::kThreads / kWarp) {
    const std::int64_t row = first + i;
    const bool inside = row < points.count && c < dims;
    tile[i * TiledShape::kPitch + lane_id()] = inside ? __ldg(points.data + row * points.stride + c) : F{0};
  }
}

template <class Form, class F>
__device__ __forceinline__ void combine_slices(const Form& form, const F* queries, const F* base,
                                               F (&sums)[TiledShape::kEach][TiledShape::kEach]) {
  for (unsigned c = 0; c < TiledShape::kSide; ++c) {
    F x[TiledShape::kEach];
    F y[TiledShape::kEach];
    KITH_UNROLL
    for (unsigned i = 0; i < TiledShape::kEach; ++i) {
      x[i] = queries[i * TiledShape::kApart * TiledShape::kPitch + c];
      y[i] = base[i * TiledShape::kApart * TiledShape::kPitch + c];
    }
    KITH_UNROLL
    for (unsigned i = 0; i < TiledShape::kEach; ++i) KITH_UNROLL
    for (unsigned j = 0; j < TiledShape::kEach; ++j) sums[i][j] = form.combine(sums[i][j], x[i], y[j]);
  }
}

template <class F>
struct TiledWork {
  PointRows<F> queries;
  PointRows<F> base;
  const F* bias;
  F* scores;
  std::int64_t score_stride;
  unsigned dims;
  unsigned query_tiles;  // neighboring blocks have the same base points and other queries
};

template <class Form, class F>
__global__ void __launch_bounds__(TiledShape::kThreads) tiled_kernel(TiledWork<F> work, Form form) {
  KITH_SHARED(F, queries, TiledShape::kSize);
  KITH_SHARED(F, base, TiledShape::kSize);
  const std::int64_t first_query = static_cast<std::int64_t>(blockIdx.x % work.query_tiles) * TiledShape::kSide;
  const std::int64_t first_point = static_cast<std::int64_t>(blockIdx.x / work.query_tiles) * TiledShape::kSide;
  const unsigned row = threadIdx.x / TiledShape::kApart;
  const unsigned column = threadIdx.x % TiledShape::kApart;
  F sums[TiledShape::kEach][TiledShape::kEach] = {};
  for (unsigned from = 0; from < work.dims; from += TiledShape::kSide) {
    load_slice(work.queries, first_query, from, work.dims, queries);
    load_slice(work.base, first_point, from, work.dims, base);
    __syncthreads();
    combine_slices(form, queries + row * TiledShape::kPitch, base + column * TiledShape::kPitch, sums);
    __syncthreads();
  }
  KITH_UNROLL
  for (unsigned j = 0; j < TiledShape::kEach; ++j) {
    const std::int64_t point = first_point + column + j * TiledShape::kApart;
    if (point >= work.base.count) continue;
    const F bias = work.bias != nullptr ? work.bias[point] : F{0};
    KITH_UNROLL
    for (unsigned i = 0; i < TiledShape::kEach; ++i) {
      const std::int64_t query = first_query + row + i * TiledShape::kApart;
      if (query < work.queries.count) work.scores[query * work.score_stride + point] = form.finish(sums[i][j], bias);
    }
  }
}

}  // namespace

template <class F>
void tiled_scores(const ScoreCall<F>& call) {
  const std::int64_t query_tiles = ceil_div(call.queries.count, TiledShape::kSide);
  const std::int64_t base_tiles = ceil_div(call.base.count, TiledShape::kSide);
  const TiledWork<F> work{.queries = call.queries,
                          .base = call.base,
                          .bias = call.bias,
                          .scores = call.scores,
                          .score_stride = call.score_stride,
                          .dims = static_cast<unsigned>(call.dims),
                          .query_tiles = static_cast<unsigned>(query_tiles)};
  with_form<F>(call.form, call.expanded(), call.p, [&]<class Form>(const Form& form) {
    launch("tiled_scores", tiled_kernel<Form, F>, {.blocks = query_tiles * base_tiles, .threads = TiledShape::kThreads},
           call.stream(), work, form);
  });
}

template void tiled_scores(const ScoreCall<float>& call);
template void tiled_scores(const ScoreCall<double>& call);

}  // namespace kith::KITH_BACKEND::distance
