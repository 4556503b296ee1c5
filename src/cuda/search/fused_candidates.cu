#include "cuda/search/fused_candidates.hpp"

#include <limits>

#include "core/sample_plan.hpp"
#include "cuda/fused/filter.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/select/select.hpp"

namespace kith::KITH_BACKEND {
namespace {

constexpr unsigned kThreads = 256;

Shape thread_each(std::int64_t count) {
  return {.blocks = ceil_div(count, kThreads), .threads = kThreads};
}

template <class F>
__global__ void sample_addends_kernel(const F* addends, std::int64_t step, std::int64_t count, F* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) out[i] = addends[i * step];
}

template <class F>
__global__ void no_limits_kernel(F* limits, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) limits[i] = std::numeric_limits<F>::infinity();
}

// Places behind a query's candidates get scores that lose and ids that are no others'; of a query that failed, all of
// them, and ids that exist.
template <class F>
__global__ void pad_candidates_kernel(F* scores, unsigned* ids, const unsigned* counts, std::int64_t queries,
                                      std::int64_t room, unsigned width, unsigned base_count, F* left_out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= queries * room) return;
  const std::int64_t query = i / room;
  const auto place = static_cast<unsigned>(i % room);
  const unsigned count = counts[query];
  const bool failed = count < width || count > room;
  if (!failed && place < count) return;
  scores[i] = std::numeric_limits<F>::infinity();
  ids[i] = failed ? place : base_count + place;
  if (failed && place == 0) left_out[query] = -std::numeric_limits<F>::infinity();
}

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

// One limit a query.
template <class F>
F* find_limits(const FusedCall<F>& call, const core::SamplePlan& plan) {
  const ScoreCall<F>& all = call.scores;
  Workspace& workspace = all.workspace;
  F* limits = workspace.take<F>(size(all.queries.count));
  if (plan.rank == 0) {
    launch("no_limits", no_limits_kernel<F>, thread_each(all.queries.count), all.stream(), limits, all.queries.count);
    return limits;
  }
  F* addends = nullptr;
  if (all.expanded()) {
    addends = workspace.take<F>(size(plan.samples));
    launch("sample_addends", sample_addends_kernel<F>, thread_each(plan.samples), all.stream(), all.addends, plan.step,
           plan.samples, addends);
  }
  const PointRows<F> sample{all.base.data, plan.samples, all.base.stride * plan.step};
  F* matrix = workspace.take<F>(size(all.queries.count * plan.samples));
  register_tiled_scores(
      ScoreCall<F>{all.queries, sample, all.dims, all.form, all.p, addends, matrix, plan.samples, workspace});
  Rows<F> rows;
  rows.values = matrix;
  rows.rows = all.queries.count;
  rows.length = static_cast<unsigned>(plan.samples);
  rows.stride = plan.samples;
  const Output<F> output{limits, nullptr, static_cast<unsigned>(plan.rank), TopkOutput::kth_only, rows};
  const SelectTuning tuning;
  select_rows(SelectCall<F>{rows, output, tuning, workspace}, call.select);
  return limits;
}

}  // namespace

template <class F>
FusedBest<F> fused_candidates(const FusedCall<F>& call, F* left_out) {
  const ScoreCall<F>& all = call.scores;
  Workspace& workspace = all.workspace;
  const std::int64_t queries = all.queries.count;
  const core::SamplePlan plan = core::plan_sample(all.base.count, call.width);
  const F* limits = find_limits(call, plan);
  F* scores = workspace.take<F>(size(queries * plan.room));
  unsigned* ids = workspace.take<unsigned>(size(queries * plan.room));
  unsigned* counts = workspace.take<unsigned>(size(queries));
  KITH_CUDA(cudaMemsetAsync(counts, 0, size(queries) * sizeof(unsigned), all.stream()));
  fused_filter(FilterCall<F>{all.queries, all.base, all.dims, all.form, all.p, all.addends, limits,
                             static_cast<unsigned>(plan.room), scores, ids, 0, counts, workspace});
  launch("pad_candidates", pad_candidates_kernel<F>, thread_each(queries * plan.room), all.stream(), scores, ids,
         counts, queries, plan.room, static_cast<unsigned>(call.width), static_cast<unsigned>(all.base.count),
         left_out);

  Rows<F> rows;
  rows.values = scores;
  rows.ids = ids;
  rows.rows = queries;
  rows.length = static_cast<unsigned>(plan.room);
  rows.stride = rows.id_stride = plan.room;
  FusedBest<F> best{workspace.take<F>(size(queries * call.width)),
                    workspace.take<std::int64_t>(size(queries * call.width))};
  const Output<F> output{best.scores, best.places, static_cast<unsigned>(call.width), TopkOutput::sorted, rows};
  const SelectTuning tuning;
  select_rows(SelectCall<F>{rows, output, tuning, workspace}, call.select);
  return best;
}

template FusedBest<float> fused_candidates(const FusedCall<float>&, float*);
template FusedBest<double> fused_candidates(const FusedCall<double>&, double*);

}  // namespace kith::KITH_BACKEND
