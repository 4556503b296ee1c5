// tensor_candidates.cu: limits from the groups of a sample, and the pass.
#include "cuda/brute/tensor_candidates.hpp"

#include <limits>

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/select/select.hpp"

namespace kith::KITH_BACKEND::brute {
namespace {

__global__ void infinite_limits_kernel(float* limits, std::int64_t count) {
  const std::int64_t i = thread_index();
  if (i < count) limits[i] = std::numeric_limits<float>::infinity();
}

float* sampled_limits(const TensorCandidatesCall& call) {
  Workspace& workspace = call.workspace;
  const std::int64_t queries = call.product.queries.count;
  float* limits = workspace.allocate<float>(as_size(queries));
  if (call.sample.rank == 0) {
    launch("infinite_limits", infinite_limits_kernel, thread_each(queries), workspace.stream(), limits, queries);
    return limits;
  }
  tensor::TensorSampleCall sample{call.product, 0, nullptr, workspace.stream()};
  sample.product.base.count = call.sample.samples;
  sample.product.base.row_bytes *= call.sample.step;
  sample.product.bias_step *= call.sample.step;
  sample.parts = core::sample_parts(queries, call.sample.samples, call.sample.rank, multiprocessor_count());
  const std::int64_t groups = sample.parts * tensor::TensorSampleCall::kGroups;
  sample.best = workspace.allocate<float>(as_size(queries * groups));
  tensor::tensor_sample(sample);
  select::Rows<float> rows;
  rows.values = sample.best;
  rows.rows = queries;
  rows.length = static_cast<unsigned>(groups);
  rows.stride = groups;
  const select::Output<float> output{limits, nullptr, static_cast<unsigned>(call.sample.rank), TopkOutput::kth_only,
                                     rows};
  const SelectTuning tuning;
  select::select_rows(select::SelectCall<float>{rows, output, tuning, workspace}, call.select);
  return limits;
}

}  // namespace

distance::CandidateLists<float> tensor_candidates(const TensorCandidatesCall& call) {
  Workspace& workspace = call.workspace;
  const std::int64_t queries = call.product.queries.count;
  distance::CandidateLists<float> lists;
  lists.limits = call.limits != nullptr ? call.limits : sampled_limits(call);
  lists.capacity = static_cast<unsigned>(call.capacity);
  lists.scores = workspace.allocate<float>(as_size(queries * call.capacity));
  lists.ids = workspace.allocate<unsigned>(as_size(queries * call.capacity));
  lists.counts = workspace.allocate<unsigned>(as_size(queries));
  KITH_CUDA(cudaMemsetAsync(lists.counts, 0, as_size(queries) * sizeof(unsigned), workspace.stream()));
  tensor::tensor_filter({call.product, lists, {}, workspace.stream(), call.mirrored});
  return lists;
}

}  // namespace kith::KITH_BACKEND::brute
