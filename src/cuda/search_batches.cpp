// Many small sets of points, each query in its own, by one kernel.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/instantiate.hpp"
#include "core/max_distance.hpp"
#include "core/periodic.hpp"
#include "cuda/brute/batch_scan.hpp"
#include "cuda/search.hpp"

namespace kith::KITH_BACKEND {
namespace {

// The listed batches as the kernel takes them.
std::vector<brute::BatchRange> ranges_of(const core::Batches& batches, std::span<const std::int64_t> listed) {
  std::vector<brute::BatchRange> ranges;
  std::int64_t begin = 0;
  for (const std::int64_t batch : listed) {
    const core::RowRange rows = batches.base(batch);
    const core::RowRange queries = batches.queries(batch);
    ranges.push_back({begin, queries.first, rows.first, rows.count});
    begin += queries.count;
  }
  return ranges;
}

template <class V>
std::vector<V> copied_to_host(const DeviceBuffer<V>& buffer, cudaStream_t stream) {
  std::vector<V> values(buffer.size());
  KITH_CUDA(cudaMemcpyAsync(values.data(), buffer.data(), values.size() * sizeof(V), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return values;
}

}  // namespace

template <Element T>
void DeviceSearch<T>::search_batches(const Plan& plan, const core::Batches& batches,
                                     std::span<const std::int64_t> listed, std::int64_t k, const NeighborsView<F>& out,
                                     SearchReport& report) {
  index_.require_base();
  const PointStore<F>& base = index_.store_for(plan);
  const std::vector<brute::BatchRange> ranges = ranges_of(batches, listed);
  const std::int64_t queries = ranges.back().begin + batches.queries(listed.back()).count;
  // No query has more neighbors.
  const std::int64_t width = std::min(k, plan.problem.k - (queries_.exclude_self ? 1 : 0));
  DeviceBuffer<brute::BatchRange> device_ranges(ranges.size(), stream_);
  KITH_CUDA(cudaMemcpyAsync(device_ranges.data(), ranges.data(), ranges.size() * sizeof(brute::BatchRange),
                            cudaMemcpyHostToDevice, stream_));
  const bool is_periodic = core::is_periodic(plan.period);
  DeviceBuffer<double> periods(is_periodic ? plan.period.size() : 0, stream_);
  if (is_periodic)
    KITH_CUDA(cudaMemcpyAsync(periods.data(), plan.period.data(), periods.size() * sizeof(double),
                              cudaMemcpyHostToDevice, stream_));
  DeviceBuffer<F> keys(as_size(queries * width), stream_);
  DeviceBuffer<unsigned> ids(keys.size(), stream_);
  for (const std::int64_t batch : listed) report.finalists += batches.pairs(batch);
  DeviceProgress done(queries_.progress, queries_.stop, report.finalists, true, stream_);
  Link link = link_for(0);
  with_checked(false, host_data::RowGaps::allowed, link, [&](const PointStore<F>& points) {
    brute::batch_scan<F>({.queries = points.exact(0, points.count()),
                          .base = base.exact(0, base.count()),
                          .dims = static_cast<unsigned>(base.dims()),
                          .metric = index_.metric(),
                          .periods = is_periodic ? periods.data() : nullptr,
                          .batches = device_ranges.data(),
                          .batch_count = static_cast<unsigned>(ranges.size()),
                          .query_count = queries,
                          .exclude_self = queries_.exclude_self,
                          .k = static_cast<unsigned>(width),
                          .keys = keys.data(),
                          .ids = ids.data()},
                         stream_);
  });
  done.add(report.finalists);
  const std::vector<F> found_keys = copied_to_host(keys, stream_);
  const std::vector<unsigned> found_ids = copied_to_host(ids, stream_);
  const F largest = core::largest_within<F>(plan.max_distance);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::int64_t candidates = ranges[i].rows - (queries_.exclude_self ? 1 : 0);
    for (std::int64_t q = 0; q < batches.queries(listed[i]).count; ++q) {
      const std::int64_t from = (ranges[i].begin + q) * width;
      const std::int64_t to = (ranges[i].first_query + q) * k;
      std::int64_t count = 0;
      for (; count < std::min(width, candidates); ++count) {
        const F key = found_keys[as_size(from + count)];
        if (std::isfinite(plan.max_distance) && !(key <= largest)) break;
        out.ids[to + count] = found_ids[as_size(from + count)];
        out.distances[to + count] = core::returned_value(index_.metric(), key);
      }
      core::mark_missing(index_.metric(), out, to + count, k - count);
    }
  }
}

#define KITH_INSTANTIATE(T)                                                                                       \
  template void DeviceSearch<T>::search_batches(const Plan&, const core::Batches&, std::span<const std::int64_t>, \
                                                std::int64_t, const NeighborsView<DistanceOf<T>>&, SearchReport&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
