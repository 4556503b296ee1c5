// filter.cu: scores that are not above their query's limit, and no others (register_tiled.cuh computes them).
// Idea    a block keeps a tile of queries and runs through base tiles; a thread looks at its 64 scores (16 in double)
//         at once, and only if one of them passes at single queries and pairs. What passes is appended to the query's
//         list, a thread's candidates of one query with one atomic operation: there are few, so that warps need not
//         share theirs.
// Cost    estimated, in float, expanded, for a thread and a tile: beside what register_tiled.cuh says, 64 operations to
//         finish scores and 64 comparisons. At d = 16 about 1300 instructions, 0.79 of them the product's; at d = 32
//         about 2450, 0.84. The other forms need two operations a coordinate and finish nothing.
// Limits  room and ids below 2^32.
#include "cuda/fused/filter.hpp"

#include <limits>

#include "cuda/distance/register_tiled.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND {

namespace {

template <class F>
struct CandidateLists {
  const F* limits;
  F* scores;
  unsigned* ids;
  unsigned* counts;
  unsigned room;
  unsigned first_id;
};

// What tiles do with their scores: `limits` are those of the block's queries, in shared memory. NaN counts as not above
// the limit: it may stand for a sum that overflowed on its way.
template <class F>
struct FilterTile {
  using Shape = TileShape<F>;

  CandidateLists<F> lists;
  std::int64_t rows;
  std::int64_t columns;
  const F* limits;

  __device__ __forceinline__ void operator()(const ThreadPairs<F>& pairs, std::int64_t first_row,
                                             std::int64_t first_column,
                                             const F (&scores)[Shape::kSide][Shape::kSide]) const {
    F limit[Shape::kSide];
    pairs.load_rows(limits, limit);
    bool passes = false;
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kSide; ++i) passes |= any_passes(scores[i], limit[i]);
    if (!passes) return;
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kSide; ++i)
      if (any_passes(scores[i], limit[i])) append(pairs, first_row + pairs.row(i), first_column, scores[i]);
  }

 private:
  __device__ __forceinline__ static bool any_passes(const F (&scores)[Shape::kSide], F limit) {
    bool passes = false;
    KITH_UNROLL
    for (unsigned j = 0; j < Shape::kSide; ++j) passes |= !(scores[j] > limit);
    return passes;
  }

  // The scores of one query, at least one of which passes if the query and the base point exist and the limit is none
  // of those that let nothing pass.
  __device__ __forceinline__ void append(const ThreadPairs<F>& pairs, std::int64_t row, std::int64_t first_column,
                                         const F (&scores)[Shape::kSide]) const {
    if (row >= rows) return;
    const F limit = lists.limits[row];
    unsigned passing = 0;
    KITH_UNROLL
    for (unsigned j = 0; j < Shape::kSide; ++j)
      if (first_column + pairs.column(j) < columns && limit == limit && !(scores[j] > limit)) passing |= 1U << j;
    if (passing == 0) return;
    unsigned place = atomicAdd(lists.counts + row, static_cast<unsigned>(__popc(passing)));
    KITH_UNROLL
    for (unsigned j = 0; j < Shape::kSide; ++j) {
      if ((passing >> j & 1U) == 0) continue;
      if (place < lists.room) {
        lists.scores[row * lists.room + place] = scores[j];
        lists.ids[row * lists.room + place] = lists.first_id + static_cast<unsigned>(first_column) + pairs.column(j);
      }
      ++place;
    }
  }
};

// The limits of the block's queries; those that let nothing pass become one that lets almost nothing pass, so that a
// comparison is enough to see that there is nothing to do. The caller needs a barrier before they are read.
template <class F>
__device__ __forceinline__ void load_limits(const TileWork<F>& work, const F* from, F* limits) {
  if (threadIdx.x >= TileShape<F>::kPoints) return;
  const std::int64_t row = std::int64_t{blockIdx.x % work.query_tiles} * TileShape<F>::kPoints + threadIdx.x;
  const F limit = row < work.queries.count ? from[row] : -std::numeric_limits<F>::infinity();
  limits[threadIdx.x] = limit == limit ? limit : -std::numeric_limits<F>::infinity();
}

template <class F, class Form>
__global__ void __launch_bounds__(TileShape<F>::kThreads, TileShape<F>::kBlocks)
    fused_filter_kernel(TileWork<F> work, Form form, CandidateLists<F> lists) {
  using Vector = typename VectorOf<F>::Type;
  KITH_SHARED(Vector, limits, TileShape<F>::kPoints / TileShape<F>::kPiece);
  F* const limit_values = reinterpret_cast<F*>(limits);
  load_limits(work, lists.limits, limit_values);
  compute_tiles(work, form, FilterTile<F>{lists, work.queries.count, work.base.count, limit_values});
}

}  // namespace

template <class F>
void fused_filter(const FilterCall<F>& call) {
  if (call.queries.count == 0 || call.base.count == 0) return;
  const TileWork<F> work = plan_tiles(call.queries, call.base, call.dims, call.addends);
  const CandidateLists<F> lists{call.limits, call.scores, call.ids, call.counts, call.room, call.first_id};
  with_form<F>(call.form, call.addends != nullptr, call.p, [&]<class Form>(const Form& form) {
    launch("fused_filter", fused_filter_kernel<F, Form>,
           {.blocks = work.blocks(), .threads = TileShape<F>::kThreads, .shared_bytes = work.shared_bytes()},
           call.stream(), work, form, lists);
  });
}

template void fused_filter(const FilterCall<float>&);
template void fused_filter(const FilterCall<double>&);

}  // namespace kith::KITH_BACKEND
