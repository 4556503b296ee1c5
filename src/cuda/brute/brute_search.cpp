// brute_search.cpp: the fallback chain: all queries take the first pass, those without a certificate the next.
#include "cuda/brute/brute_search.hpp"

#include "cuda/brute/fallback_search.hpp"
#include "cuda/runtime/properties.hpp"

namespace kith::KITH_BACKEND::brute {
namespace {

// The queries, or where the pass needs norms that they do not have, the same with them.
template <class F>
const PointStore<F>& queries_for(const Pass& pass, const PointStore<F>& queries, const Metric& metric,
                                 std::optional<PointStore<F>>& with_norms, cudaStream_t stream) {
  if (!needs_norms(pass, metric) || queries.bias(0) != nullptr) return queries;
  with_norms.emplace(queries.exact(0, queries.count()).rows, queries.dims(), metric, true, stream);
  with_norms->prepare(queries.count());
  return *with_norms;
}

}  // namespace

bool needs_norms(const Pass& pass, const Metric& metric) {
  return core::form_of(metric) == core::Form::squared && pass.distance != DistanceStage::exact &&
         pass.distance != DistanceStage::fp16 && pass.distance != DistanceStage::split_fp16;
}

bool takes_wanted(const Pass& pass, std::int64_t dims) {
  const bool rounded = pass.distance == DistanceStage::fp16 || pass.distance == DistanceStage::split_fp16;
  return rounded && (pass.expanded || (pass.fused && tensor::has_tensor_filter(tensor::Element::fp16, dims)));
}

template <class F>
std::vector<PassReport> brute_search(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base, F* keys,
                                     unsigned* ids, Workspace& workspace, const std::function<void()>& on_tile_done,
                                     const std::function<void()>& on_lists_enqueued) {
  cudaStream_t stream = workspace.stream();
  FallbackSearch<F> search(work, base, workspace, on_tile_done);
  std::vector<PassReport> reports(work.passes.size());
  std::size_t pass = search.first_unbounded(search.first_not_failed(0));
  if (work.tries) pass = search.first_that_suffices(pass, queries, reports);
  std::optional<PointStore<F>> with_norms;
  reports[pass] =
      search.run(work.passes[pass], queries_for(work.passes[pass], queries, work.metric, with_norms, stream), keys, ids,
                 on_lists_enqueued);

  // Only the queries that failed go on: chosen[i] is the row of the answer of the i-th of them.
  std::optional<PointStore<F>> rest;
  DeviceBuffer<unsigned> chosen;
  const bool again = search.failed() > 0;
  for (++pass; pass < work.passes.size() && search.failed() > 0; ++pass) {
    const std::int64_t count = search.failed();
    // For so few, exact keys of all points take no longer than scores, unless the next pass is bounded, which reads
    // half the bytes.
    if (count <= device_policy().exact_queries && !work.passes[pass].bounded) pass = work.passes.size() - 1;
    DeviceBuffer<unsigned> failed(as_size(count), stream);
    if (rest) {
      gather_rows(chosen.data(), search.failed_queries(), count, 1, failed.data(), stream);
    } else {
      KITH_CUDA(cudaMemcpyAsync(failed.data(), search.failed_queries(), as_size(count) * sizeof(unsigned),
                                cudaMemcpyDeviceToDevice, stream));
    }
    chosen = std::move(failed);
    rest.emplace(gather_queries(queries, chosen.data(), count, work.metric, stream));
    pass = search.first_not_failed(pass);
    // What a bounded pass needs is there; one that is likely to fail has been tried.
    if (!work.passes[pass].bounded) pass = search.first_that_suffices(pass, *rest, reports);
    DeviceBuffer<F> rest_keys(as_size(count * work.k), stream);
    DeviceBuffer<unsigned> rest_ids(as_size(count * work.k), stream);
    if (work.passes[pass].bounded) gather_rows(keys, chosen.data(), count, work.k, rest_keys.data(), stream);
    reports[pass] = search.run(work.passes[pass], *rest, rest_keys.data(), rest_ids.data());
    scatter_rows(rest_keys.data(), chosen.data(), count, work.k, keys, stream);
    scatter_rows(rest_ids.data(), chosen.data(), count, work.k, ids, stream);
  }
  if (again) on_lists_enqueued();
  return reports;
}

template <class F>
bool first_pass_suffices(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base,
                         Workspace& workspace) {
  const std::function<void()> nothing = [] {};
  FallbackSearch<F> search(work, base, workspace, nothing);
  if (search.has_failed(work.passes.front())) return false;
  return search.suffices(0, queries, nullptr);
}

#define KITH_INSTANTIATE(F)                                                                                            \
  template std::vector<PassReport> brute_search(const BruteWork&, const PointStore<F>&, BaseSource<F>&, F*, unsigned*, \
                                                Workspace&, const std::function<void()>&,                              \
                                                const std::function<void()>&);                                         \
  template bool first_pass_suffices(const BruteWork&, const PointStore<F>&, BaseSource<F>&, Workspace&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::brute
