// direct.cu: scores for one query or a few, at the speed at which the base can be read.
// Idea    a group of neighboring lanes shares a base point: each loads 16 bytes of it in turn, and shuffles add up
// their
//         sums. A group works on kDirectRows points at once and on up to four queries, whose coordinates come from the
//         L1 cache; blocks of other queries follow at once, so that they find the points in the L2 cache. Where few
//         long points would leave the device idle, a whole block shares a point.
// Cost    a coordinate of a base point is read from memory once for up to four queries: the floor. It takes 1/4 of a
//         load and, for each query, 1/16 of one and one or two operations; with four queries that is about half of what
//         a multiprocessor can issue while it reads.
// Limits  none but the grid's. Where points do not lie at multiples of 16 bytes, lanes take turns with single values.
#include <algorithm>

#include "cuda/distance/forms.cuh"
#include "cuda/distance/scores.hpp"
#include "cuda/primitives/row_vectors.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::distance {
namespace {

struct DirectTuning {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kWarps = kThreads / kWarp;
  static constexpr unsigned kLineLanes = 8;        // lanes whose 16 bytes are a cache line
  static constexpr unsigned kLoadsEach = 4;        // loads of a lane before more than kLineLanes share a point
  static constexpr std::int64_t kStridesEach = 2;  // loads of each thread at least where a block shares a point
};

// Points that a group works on at once. Long forms are bound by arithmetic.
template <class Form>
constexpr unsigned kDirectRows = kIsLong<Form> ? 1 : 4;

template <class F>
constexpr unsigned kVectorWidth = 16 / sizeof(F);

template <class F>
struct DirectWork {
  PointRows<F> queries;
  PointRows<F> base;
  const F* bias;
  F* scores;
  std::int64_t score_stride;
  unsigned dims;
  unsigned passes;       // groups of queries: neighboring blocks have the same points and other queries
  unsigned lanes;        // lanes that share a point: 1 … 32
  bool block_per_point;  // all threads of the block share a point
  bool vector_loads;     // all points lie at multiples of 16 bytes
};

// The threads that a thread works with: the members of a group share a point, the groups of a team take neighboring
// points.
struct Team {
  unsigned members;
  unsigned member;
  unsigned groups;
  unsigned group;
  std::int64_t index;

  template <class F>
  __device__ explicit Team(const DirectWork<F>& work) {
    const std::int64_t block = blockIdx.x / work.passes;
    members = work.block_per_point ? DirectTuning::kThreads : work.lanes;
    member = threadIdx.x % members;
    groups = work.block_per_point ? 1 : kWarp / work.lanes;
    group = work.block_per_point ? 0 : lane_id() / work.lanes;
    index = work.block_per_point ? block : block * DirectTuning::kWarps + warp_id();
  }

  // The r-th of the group's `rows` points.
  __device__ std::int64_t point(unsigned r, unsigned rows) const { return (index * rows + r) * groups + group; }
};

// A row of `points`; rows beyond the last are the last.
template <class F>
__device__ __forceinline__ const F* row_or_last(const PointRows<F>& points, std::int64_t row) {
  return points.data + (row < points.count ? row : points.count - 1) * points.stride;
}

// Loads neighboring coordinates from `first` on, which is a multiple of 16 bytes.
template <class F>
struct VectorLoad {
  unsigned first;

  __device__ __forceinline__ void operator()(const F* row, F (&values)[kVectorWidth<F>]) const {
    using Vector = typename VectorOf<F>::Type;
    RowVectors<F>::unpack(__ldg(reinterpret_cast<const Vector*>(row + first)), values);
  }
};

// Loads every step-th coordinate from `first` on; zeros, which add nothing, behind the last.
template <class F>
struct SingleLoad {
  unsigned first;
  unsigned step;
  unsigned dims;

  __device__ __forceinline__ void operator()(const F* row, F (&values)[kVectorWidth<F>]) const {
    KITH_UNROLL
    for (unsigned i = 0; i < kVectorWidth<F>; ++i) {
      const unsigned c = first + i * step;
      values[i] = c < dims ? __ldg(row + c) : F{0};
    }
  }
};

template <class F, unsigned Rows, unsigned Queries>
struct Pairs {
  const F* base[Rows];
  const F* queries[Queries];
  F sums[Rows][Queries];

  template <class Form, class Load>
  __device__ __forceinline__ void add(const Form& form, const Load& load) {
    F y[Rows][kVectorWidth<F>];
    KITH_UNROLL
    for (unsigned r = 0; r < Rows; ++r) load(base[r], y[r]);
    KITH_UNROLL
    for (unsigned q = 0; q < Queries; ++q) {
      F x[kVectorWidth<F>];
      load(queries[q], x);
      KITH_UNROLL
      for (unsigned i = 0; i < kVectorWidth<F>; ++i) KITH_UNROLL
      for (unsigned r = 0; r < Rows; ++r) sums[r][q] = form.combine(sums[r][q], x[i], y[r][i]);
    }
  }

  // Every lane of a group gets the sums of all. Must be called by all lanes of the warp.
  template <class Form>
  __device__ __forceinline__ void join_lanes(const Form& form, unsigned lanes) {
    for (unsigned step = lanes / 2; step > 0; step /= 2) KITH_UNROLL
    for (unsigned r = 0; r < Rows; ++r) KITH_UNROLL
    for (unsigned q = 0; q < Queries; ++q)
      sums[r][q] = form.join(sums[r][q], __shfl_xor_sync(kFullMask, sums[r][q], static_cast<int>(step)));
  }

  // The first warp gets the sums of all warps. Must be called by all threads of the block: there is a barrier.
  template <class Form>
  __device__ __forceinline__ void join_warps(const Form& form) {
    constexpr unsigned kPairs = Rows * Queries;
    KITH_SHARED(F, parts, DirectTuning::kWarps * kPairs);
    if (lane_id() == 0) KITH_UNROLL
    for (unsigned i = 0; i < kPairs; ++i) parts[warp_id() * kPairs + i] = sums[i / Queries][i % Queries];
    __syncthreads();
    if (warp_id() > 0) return;
    for (unsigned warp = 1; warp < DirectTuning::kWarps; ++warp) KITH_UNROLL
    for (unsigned i = 0; i < kPairs; ++i) {
      F& sum = sums[i / Queries][i % Queries];
      sum = form.join(sum, parts[warp * kPairs + i]);
    }
  }

  // sums[row][query] by selects, so that the array stays in registers.
  __device__ __forceinline__ F sum(unsigned row, unsigned query) const {
    F value = sums[0][query];
    KITH_UNROLL
    for (unsigned r = 1; r < Rows; ++r)
      if (r == row) value = sums[r][query];
    return value;
  }
};

// Members of a group store different points, so that lanes of a warp store neighbors.
template <class Form, class F, unsigned Rows, unsigned Queries>
__device__ __forceinline__ void store(const DirectWork<F>& work, const Form& form, const Team& team,
                                      std::int64_t first_query, const Pairs<F, Rows, Queries>& pairs) {
  for (unsigned r = team.member; r < Rows; r += team.members) {
    const std::int64_t point = team.point(r, Rows);
    if (point >= work.base.count) return;
    const F bias = work.bias != nullptr ? work.bias[point] : F{0};
    KITH_UNROLL
    for (unsigned q = 0; q < Queries; ++q)
      if (first_query + q < work.queries.count)
        work.scores[(first_query + q) * work.score_stride + point] = form.finish(pairs.sum(r, q), bias);
  }
}

// Blocks of a multiprocessor, for __launch_bounds__: without it the compiler spills to allow more blocks. 0 leaves it
// to the compiler.
template <unsigned Queries, class F>
constexpr unsigned kResident = Queries == 4 && sizeof(F) == 8 ? 2 : 0;

template <class Form, unsigned Queries, class F>
__global__ void __launch_bounds__(DirectTuning::kThreads, kResident<Queries, F>)
    direct_kernel(DirectWork<F> work, Form form) {
  constexpr unsigned kRowsEach = kDirectRows<Form>;
  const Team team(work);
  const std::int64_t first_query = static_cast<std::int64_t>(blockIdx.x % work.passes) * Queries;
  Pairs<F, kRowsEach, Queries> pairs;
  KITH_UNROLL
  for (unsigned q = 0; q < Queries; ++q) pairs.queries[q] = row_or_last(work.queries, first_query + q);
  KITH_UNROLL
  for (unsigned r = 0; r < kRowsEach; ++r) {
    pairs.base[r] = row_or_last(work.base, team.point(r, kRowsEach));
    KITH_UNROLL
    for (unsigned q = 0; q < Queries; ++q) pairs.sums[r][q] = F{0};
  }

  const unsigned whole = work.vector_loads ? work.dims - work.dims % kVectorWidth<F> : 0;
  const unsigned stride = team.members * kVectorWidth<F>;
  for (unsigned c = team.member * kVectorWidth<F>; c < whole; c += stride) pairs.add(form, VectorLoad<F>{c});
  for (unsigned c = whole + team.member; c < work.dims; c += stride)
    pairs.add(form, SingleLoad<F>{c, team.members, work.dims});

  pairs.join_lanes(form, work.lanes);
  if (work.block_per_point) {
    pairs.join_warps(form);
    if (warp_id() > 0) return;
  }
  store(work, form, team, first_query, pairs);
}

template <class F>
bool is_vector_aligned(const PointRows<F>& points) {
  const bool rows_aligned = points.count <= 1 || points.stride % static_cast<std::int64_t>(kVectorWidth<F>) == 0;
  return rows_aligned && reinterpret_cast<std::uintptr_t>(points.data) % 16 == 0;
}

// Lanes that share a point: up to a cache line, then as many as let each load kLoadsEach times.
template <class F>
unsigned lanes_per_point(std::int64_t dims) {
  const std::int64_t vectors = ceil_div(dims, kVectorWidth<F>);
  const std::int64_t enough = vectors <= DirectTuning::kLineLanes * DirectTuning::kLoadsEach
                                  ? std::min<std::int64_t>(vectors, DirectTuning::kLineLanes)
                                  : ceil_div(vectors, DirectTuning::kLoadsEach);
  unsigned lanes = 1;
  while (lanes < kWarp && lanes < enough) lanes *= 2;
  return lanes;
}

template <unsigned Queries, class Form, class F>
void launch_direct(const ScoreCall<F>& call, const Form& form) {
  DirectWork<F> work{.queries = call.queries,
                     .base = call.base,
                     .bias = call.bias,
                     .scores = call.scores,
                     .score_stride = call.score_stride,
                     .dims = static_cast<unsigned>(call.dims),
                     .passes = static_cast<unsigned>(ceil_div(call.queries.count, Queries)),
                     .lanes = lanes_per_point<F>(call.dims),
                     .block_per_point = false,
                     .vector_loads = is_vector_aligned(call.queries) && is_vector_aligned(call.base)};
  const std::int64_t warps = ceil_div(call.base.count, std::int64_t{kDirectRows<Form>} * (kWarp / work.lanes));
  constexpr std::int64_t kLong = DirectTuning::kStridesEach * DirectTuning::kThreads * kVectorWidth<F>;
  work.block_per_point =
      call.dims >= kLong && warps * work.passes < device_policy().direct_warps_each * multiprocessor_count();
  const std::int64_t blocks = work.block_per_point ? warps : ceil_div(warps, DirectTuning::kWarps);
  launch("direct_scores", direct_kernel<Form, Queries, F>,
         {.blocks = blocks * work.passes, .threads = DirectTuning::kThreads}, call.stream(), work, form);
}

}  // namespace

template <class F>
void direct_scores(const ScoreCall<F>& call) {
  if (call.queries.count == 0 || call.base.count == 0) return;
  with_form<F>(call.form, call.expanded(), call.p, [&]<class Form>(const Form& form) {
    if constexpr (!kIsLong<Form>) {
      if (call.queries.count == 2) return launch_direct<2>(call, form);
      if (call.queries.count > 2) return launch_direct<4>(call, form);
    }
    launch_direct<1>(call, form);
  });
}

template void direct_scores(const ScoreCall<float>& call);
template void direct_scores(const ScoreCall<double>& call);

}  // namespace kith::KITH_BACKEND::distance
