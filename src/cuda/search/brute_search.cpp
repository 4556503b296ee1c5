#include "cuda/search/brute_search.hpp"

#include "cuda/search/climb.hpp"

namespace kith::KITH_BACKEND {
namespace {

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

// So few queries go to the last rung at once: keys of all points then take no longer than any other scores.
constexpr std::int64_t kFew = 16;

}  // namespace

template <class F>
std::vector<RungReport> brute_search(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base, F* keys,
                                     unsigned* ids, Workspace& workspace, const std::function<void()>& between) {
  cudaStream_t stream = workspace.stream();
  Climb<F> climb(work, base, workspace, between);
  std::vector<RungReport> reports(work.rungs.size());
  std::size_t rung = climb.first_not_failed(0);
  if (work.tries) rung = climb.first_that_holds(rung, queries, reports);
  reports[rung] = climb.run(work.rungs[rung], queries, keys, ids);

  // Who failed goes on alone: `chosen` says where its answer belongs.
  std::optional<PointStore<F>> rest;
  DeviceBuffer<unsigned> chosen;
  for (++rung; rung < work.rungs.size() && climb.failed() > 0; ++rung) {
    const std::int64_t count = climb.failed();
    if (count <= kFew) rung = work.rungs.size() - 1;
    DeviceBuffer<unsigned> failed(size(count), stream);
    if (rest) {
      gather_rows(chosen.data(), climb.failed_queries(), count, 1, failed.data(), stream);
    } else {
      KITH_CUDA(cudaMemcpyAsync(failed.data(), climb.failed_queries(), size(count) * sizeof(unsigned),
                                cudaMemcpyDeviceToDevice, stream));
    }
    chosen = std::move(failed);
    rest.emplace(some_of(queries, chosen.data(), count, work.metric, stream));
    rung = climb.first_that_holds(climb.first_not_failed(rung), *rest, reports);
    DeviceBuffer<F> rest_keys(size(count * work.k), stream);
    DeviceBuffer<unsigned> rest_ids(size(count * work.k), stream);
    reports[rung] = climb.run(work.rungs[rung], *rest, rest_keys.data(), rest_ids.data());
    scatter_rows(rest_keys.data(), chosen.data(), count, work.k, keys, stream);
    scatter_rows(rest_ids.data(), chosen.data(), count, work.k, ids, stream);
  }
  return reports;
}

template <class F>
bool first_rung_holds(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base, Workspace& workspace) {
  if (base.memory().has_failed(work.rungs.front())) return false;
  const std::function<void()> nothing = [] {};
  RungReport trial;
  return Climb<F>(work, base, workspace, nothing).holds(work.rungs.front(), queries, trial);
}

#define KITH_INSTANTIATE(F)                                                                                            \
  template std::vector<RungReport> brute_search(const BruteWork&, const PointStore<F>&, BaseSource<F>&, F*, unsigned*, \
                                                Workspace&, const std::function<void()>&);                             \
  template bool first_rung_holds(const BruteWork&, const PointStore<F>&, BaseSource<F>&, Workspace&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
