// Eight lanes share a pair, lane j taking the coordinates c with c % 8 = j: that is the order of core/key.hpp, whose
// tree of additions a butterfly of shuffles repeats (addition commutes, so all eight get the same bits), and eight
// neighbouring floats are one sector of memory.
// Cost of a pair: dims loads of the base point, from memory where candidates are scattered; three double operations a
// coordinate. Where all pairs are wanted, a group keeps kQueries queries at once, so that a base point is read once for
// all of them.
#include "cuda/distance/exact_keys.hpp"

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND {
namespace {

struct KeyShape {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kGroups = kThreads / core::kLanes;  // pairs, or base points, of a block at a time
  static constexpr unsigned kQueries = 4;
};

__device__ __forceinline__ unsigned group_lane() {
  return threadIdx.x % core::kLanes;
}

// Over the eight lanes of a group, in the order of core::combine_lanes. All lanes of the warp call.
__device__ double combine_group(double lane, core::Form form) {
  for (int step = core::kLanes / 2; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(kFullMask, lane, step);
    lane = form != core::Form::maximum ? lane + other : lane < other ? other : lane;
  }
  return lane;
}

__device__ __forceinline__ double add_term(core::Form form, double sum, double term) {
  if (form == core::Form::maximum) return sum < term ? term : sum;
  return sum + term;
}

template <class F>
__device__ core::RowFacts facts_of(const ExactSet<F>& set, std::int64_t row) {
  return {set.means == nullptr ? 0.0 : set.means[row], set.square_norms == nullptr ? 0.0 : set.square_norms[row]};
}

// Group a pair.
template <class F>
__global__ void __launch_bounds__(KeyShape::kThreads)
    candidate_keys_kernel(KeyCall<F> call, core::Form form, const unsigned* ids, std::int64_t count, F* keys) {
  const std::int64_t pairs = call.queries.rows.count * count;
  const std::int64_t pair = static_cast<std::int64_t>(blockIdx.x) * KeyShape::kGroups + threadIdx.x / core::kLanes;
  const std::int64_t mine = pair < pairs ? pair : pairs - 1;  // the last groups of a warp may have nothing of their own
  const std::int64_t query = mine / count;
  const std::int64_t point = ids[mine];
  const core::RowFacts x_facts = facts_of(call.queries, query);
  const core::RowFacts y_facts = facts_of(call.base, point);
  const F* x = call.queries.rows.data + query * call.queries.rows.stride;
  const F* y = call.base.rows.data + point * call.base.rows.stride;
  double sum = 0;
#pragma unroll 4
  for (std::int64_t c = group_lane(); c < call.dims; c += core::kLanes)
    sum = add_term(form, sum,
                   core::term(form, call.metric.p, static_cast<double>(x[c]) - x_facts.mean,
                              static_cast<double>(y[c]) - y_facts.mean));
  const double raw = combine_group(sum, form);
  if (pair < pairs && group_lane() == 0)
    keys[pair] = static_cast<F>(core::finish(call.metric, raw, x_facts, y_facts, call.dims));
}

// Group a base point and kQueries queries; blocks are numbered query groups first, so that they meet in the cache.
template <class F>
__global__ void __launch_bounds__(KeyShape::kThreads)
    all_keys_kernel(KeyCall<F> call, core::Form form, std::int64_t query_groups, F* keys, std::int64_t stride) {
  constexpr unsigned kQueries = KeyShape::kQueries;
  const std::int64_t first_query = blockIdx.x % query_groups * kQueries;
  const std::int64_t point = blockIdx.x / query_groups * KeyShape::kGroups + threadIdx.x / core::kLanes;
  const std::int64_t mine = min(point, call.base.rows.count - 1);
  const core::RowFacts y_facts = facts_of(call.base, mine);
  const F* y = call.base.rows.data + mine * call.base.rows.stride;
  const F* x[kQueries];
  core::RowFacts x_facts[kQueries];
  double sums[kQueries] = {};
  KITH_UNROLL
  for (unsigned i = 0; i < kQueries; ++i) {
    const std::int64_t query = min(first_query + i, call.queries.rows.count - 1);
    x[i] = call.queries.rows.data + query * call.queries.rows.stride;
    x_facts[i] = facts_of(call.queries, query);
  }
  for (std::int64_t c = group_lane(); c < call.dims; c += core::kLanes) {
    const double at = static_cast<double>(y[c]) - y_facts.mean;
    KITH_UNROLL
    for (unsigned i = 0; i < kQueries; ++i)
      sums[i] =
          add_term(form, sums[i], core::term(form, call.metric.p, static_cast<double>(x[i][c]) - x_facts[i].mean, at));
  }
  KITH_UNROLL
  for (unsigned i = 0; i < kQueries; ++i) {
    const double raw = combine_group(sums[i], form);
    const bool there = first_query + i < call.queries.rows.count && point < call.base.rows.count;
    if (there && group_lane() == 0)
      keys[(first_query + i) * stride + point] =
          static_cast<F>(core::finish(call.metric, raw, x_facts[i], y_facts, call.dims));
  }
}

// Group a row.
template <class F>
__global__ void __launch_bounds__(KeyShape::kThreads)
    row_facts_kernel(PointRows<F> rows, std::int64_t dims, double* square_norms, double* means) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * KeyShape::kGroups + threadIdx.x / core::kLanes;
  const F* x = rows.data + min(row, rows.count - 1) * rows.stride;
  double mean = 0;
  if (means != nullptr) {
    double sum = 0;
    for (std::int64_t c = group_lane(); c < dims; c += core::kLanes) sum += static_cast<double>(x[c]);
    mean = combine_group(sum, core::Form::squared) / static_cast<double>(dims);
  }
  double sum = 0;
  for (std::int64_t c = group_lane(); c < dims; c += core::kLanes) {
    const double at = static_cast<double>(x[c]) - mean;
    sum += at * at;
  }
  const double square_norm = combine_group(sum, core::Form::squared);
  if (row >= rows.count || group_lane() != 0) return;
  square_norms[row] = square_norm;
  if (means != nullptr) means[row] = mean;
}

}  // namespace

template <class F>
void row_facts(const PointRows<F>& rows, std::int64_t dims, double* square_norms, double* means, cudaStream_t stream) {
  launch("row_facts", row_facts_kernel<F>,
         {.blocks = ceil_div(rows.count, KeyShape::kGroups), .threads = KeyShape::kThreads}, stream, rows, dims,
         square_norms, means);
}

template <class F>
void candidate_keys(const KeyCall<F>& call, const unsigned* ids, std::int64_t count, F* keys) {
  launch("candidate_keys", candidate_keys_kernel<F>,
         {.blocks = ceil_div(call.queries.rows.count * count, KeyShape::kGroups), .threads = KeyShape::kThreads},
         call.stream, call, core::form_of(call.metric), ids, count, keys);
}

template <class F>
void all_keys(const KeyCall<F>& call, F* keys, std::int64_t stride) {
  const std::int64_t query_groups = ceil_div(call.queries.rows.count, KeyShape::kQueries);
  launch("all_keys", all_keys_kernel<F>,
         {.blocks = query_groups * ceil_div(call.base.rows.count, KeyShape::kGroups), .threads = KeyShape::kThreads},
         call.stream, call, core::form_of(call.metric), query_groups, keys, stride);
}

#define KITH_INSTANTIATE(F)                                                                   \
  template void row_facts(const PointRows<F>&, std::int64_t, double*, double*, cudaStream_t); \
  template void candidate_keys(const KeyCall<F>&, const unsigned*, std::int64_t, F*);         \
  template void all_keys(const KeyCall<F>&, F*, std::int64_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
