// fused_candidates.cu: limits from a sample, the fused pass, padding, selection.
#include "cuda/brute/fused_candidates.hpp"

#include <limits>

#include "core/sample_plan.hpp"
#include "cuda/distance/fused_filter.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/select/select.hpp"

namespace kith::KITH_BACKEND::brute {
namespace {

constexpr unsigned kFusedThreads = 256;

template <class F>
__global__ void sample_bias_kernel(const F* bias, std::int64_t step, std::int64_t count, F* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kFusedThreads + threadIdx.x;
  if (i < count) out[i] = bias[i * step];
}

template <class F>
__global__ void no_limits_kernel(F* limits, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kFusedThreads + threadIdx.x;
  if (i < count) limits[i] = std::numeric_limits<F>::infinity();
}

// Slots behind a query's candidates get infinite scores and ids that no point has. All slots of a query that failed get
// infinite scores and ids that exist, since keys will be computed for them.
template <class F>
__global__ void pad_candidates_kernel(F* scores, unsigned* ids, const unsigned* counts, std::int64_t queries,
                                      std::int64_t capacity, unsigned width, unsigned base_count, F* left_out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kFusedThreads + threadIdx.x;
  if (i >= queries * capacity) return;
  const std::int64_t query = i / capacity;
  const auto slot = static_cast<unsigned>(i % capacity);
  const unsigned count = counts[query];
  const bool failed = count < width || count > capacity;
  if (!failed && slot < count) return;
  scores[i] = std::numeric_limits<F>::infinity();
  ids[i] = failed ? slot : base_count + slot;
  if (failed && slot == 0) left_out[query] = -std::numeric_limits<F>::infinity();
}

// PointPass and Fp16Pass have the same interface: scores of a sample, and the fused pass.
template <class F>
class PointPass {
 public:
  using Value = F;
  explicit PointPass(const distance::ScoreCall<F>& call) : call_(call) {}

  std::int64_t queries() const { return call_.queries.count; }
  std::int64_t base() const { return call_.base.count; }
  Workspace& workspace() const { return call_.workspace; }
  const F* bias() const { return call_.bias; }

  void score_sample(const core::SamplePlan& plan, const F* bias, F* matrix, std::int64_t stride) const {
    const PointRows<F> sample{call_.base.data, plan.samples, call_.base.stride * plan.step};
    distance::register_tiled_scores(distance::ScoreCall<F>{call_.queries, sample, call_.dims, call_.form, call_.p, bias,
                                                           matrix, stride, call_.workspace});
  }

  void filter(const distance::CandidateLists<F>& lists) const {
    distance::fused_filter(distance::FilterCall<F>{call_.queries, call_.base, call_.dims, call_.form, call_.p,
                                                   call_.bias, lists, call_.workspace});
  }

 private:
  const distance::ScoreCall<F>& call_;
};

class Fp16Pass {
 public:
  using Value = float;
  explicit Fp16Pass(const distance::Fp16ScoreCall& call) : call_(call) {}

  std::int64_t queries() const { return call_.queries.count; }
  std::int64_t base() const { return call_.base.count; }
  Workspace& workspace() const { return call_.workspace; }
  const float* bias() const { return call_.bias; }

  void score_sample(const core::SamplePlan& plan, const float* bias, float* matrix, std::int64_t stride) const {
    Fp16Rows sample = call_.base;
    sample.count = plan.samples;
    sample.stride *= plan.step;
    distance::fp16_gemm_scores({call_.queries, sample, bias, matrix, stride, call_.workspace});
  }

  void filter(const distance::CandidateLists<float>& lists) const {
    distance::fp16_filter({call_.queries, call_.base, call_.bias, lists, call_.workspace.stream()});
  }

 private:
  const distance::Fp16ScoreCall& call_;
};

// Returns one limit a query.
template <class Pass, class F = typename Pass::Value>
F* find_limits(const Pass& pass, const core::SamplePlan& plan, SelectMethod select) {
  Workspace& workspace = pass.workspace();
  cudaStream_t stream = workspace.stream();
  F* limits = workspace.allocate<F>(as_size(pass.queries()));
  if (plan.rank == 0) {
    launch("no_limits", no_limits_kernel<F>, thread_each(pass.queries()), stream, limits, pass.queries());
    return limits;
  }
  F* bias = nullptr;
  if (pass.bias() != nullptr) {
    bias = workspace.allocate<F>(as_size(plan.samples));
    launch("sample_bias", sample_bias_kernel<F>, thread_each(plan.samples), stream, pass.bias(), plan.step,
           plan.samples, bias);
  }
  const std::int64_t stride = ceil_div(plan.samples, distance::kRowAlignment) * distance::kRowAlignment;
  F* matrix = workspace.allocate<F>(as_size(pass.queries() * stride));
  pass.score_sample(plan, bias, matrix, stride);
  select::Rows<F> rows;
  rows.values = matrix;
  rows.rows = pass.queries();
  rows.length = static_cast<unsigned>(plan.samples);
  rows.stride = stride;
  const select::Output<F> output{limits, nullptr, static_cast<unsigned>(plan.rank), TopkOutput::kth_only, rows};
  const SelectTuning tuning;
  select::select_rows(select::SelectCall<F>{rows, output, tuning, workspace}, select);
  return limits;
}

template <class Pass, class F = typename Pass::Value>
BestRows<F> find_candidates(const Pass& pass, const FusedWidth& wanted, F* left_out) {
  Workspace& workspace = pass.workspace();
  const std::int64_t queries = pass.queries();
  const core::SamplePlan plan = core::plan_sample(pass.base(), wanted.width);
  distance::CandidateLists<F> lists;
  lists.limits = find_limits(pass, plan, wanted.select);
  lists.capacity = static_cast<unsigned>(plan.capacity);
  lists.scores = workspace.allocate<F>(as_size(queries * plan.capacity));
  lists.ids = workspace.allocate<unsigned>(as_size(queries * plan.capacity));
  lists.counts = workspace.allocate<unsigned>(as_size(queries));
  KITH_CUDA(cudaMemsetAsync(lists.counts, 0, as_size(queries) * sizeof(unsigned), workspace.stream()));
  pass.filter(lists);
  launch("pad_candidates", pad_candidates_kernel<F>, thread_each(queries * plan.capacity), workspace.stream(),
         lists.scores, lists.ids, lists.counts, queries, plan.capacity, static_cast<unsigned>(wanted.width),
         static_cast<unsigned>(pass.base()), left_out);

  select::Rows<F> rows;
  rows.values = lists.scores;
  rows.ids = lists.ids;
  rows.rows = queries;
  rows.length = lists.capacity;
  rows.stride = rows.id_stride = plan.capacity;
  BestRows<F> best{workspace.allocate<F>(as_size(queries * wanted.width)),
                   workspace.allocate<std::int64_t>(as_size(queries * wanted.width))};
  const select::Output<F> output{best.values, best.columns, static_cast<unsigned>(wanted.width), TopkOutput::sorted,
                                 rows};
  const SelectTuning tuning;
  select::select_rows(select::SelectCall<F>{rows, output, tuning, workspace}, wanted.select);
  return best;
}

}  // namespace

template <class F>
BestRows<F> fused_candidates(const distance::ScoreCall<F>& call, const FusedWidth& wanted, F* left_out) {
  return find_candidates(PointPass<F>(call), wanted, left_out);
}

template BestRows<float> fused_candidates(const distance::ScoreCall<float>&, const FusedWidth&, float*);
template BestRows<double> fused_candidates(const distance::ScoreCall<double>&, const FusedWidth&, double*);

BestRows<float> fused_candidates(const distance::Fp16ScoreCall& call, const FusedWidth& wanted, float* left_out) {
  return find_candidates(Fp16Pass(call), wanted, left_out);
}

}  // namespace kith::KITH_BACKEND::brute
