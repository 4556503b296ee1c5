#include "lowdim/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "backend/contract.hpp"
#include "core/curve_shifts.hpp"
#include "cuda/shifted_sort/cached_orders.hpp"
#include "plan/choose.hpp"

namespace kith::lowdim_bench {
namespace {

constexpr std::int64_t kDims = 3;

template <class V>
cuda::DeviceBuffer<V> on_device(const std::vector<V>& values, cudaStream_t stream) {
  cuda::DeviceBuffer<V> buffer(values.size(), stream);
  KITH_CUDA(cudaMemcpyAsync(buffer.data(), values.data(), values.size() * sizeof(V), cudaMemcpyHostToDevice, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return buffer;
}

template <class V>
std::vector<V> on_host(const V* from, std::int64_t count, cudaStream_t stream) {
  std::vector<V> values(static_cast<std::size_t>(count));
  KITH_CUDA(cudaMemcpyAsync(values.data(), from, values.size() * sizeof(V), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return values;
}

// What is given back is kept for the next round.
void keep_memory() {
  int device = 0;
  KITH_CUDA(cudaGetDevice(&device));
  cudaMemPool_t pool = nullptr;
  KITH_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  KITH_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double distance(const float* x, const float* y) {
  double sum = 0;
  for (int c = 0; c < kDims; ++c)
    sum += (static_cast<double>(x[c]) - static_cast<double>(y[c])) *
           (static_cast<double>(x[c]) - static_cast<double>(y[c]));
  return std::sqrt(sum);
}

struct Row {
  const float* distances;
  const std::int64_t* ids;
};

// Empty, or why a row cannot be an answer: its distances are not those of its ids, unsorted, or points come twice.
std::string row_fault(const Row& row, std::int64_t k, const float* query, const Points& base) {
  std::set<std::int64_t> seen;
  for (std::int64_t i = 0; i < k; ++i) {
    if (row.ids[i] < 0 || 3 * row.ids[i] >= static_cast<std::int64_t>(base.size()))
      return fmt::format("id {} is no point", row.ids[i]);
    if (!seen.insert(row.ids[i]).second) return fmt::format("id {} comes twice", row.ids[i]);
    const double right = distance(query, base.data() + 3 * row.ids[i]);
    if (std::abs(right - static_cast<double>(row.distances[i])) > 1e-6 * right)
      return fmt::format("distance {} of id {} should be {}", row.distances[i], row.ids[i], right);
    if (i > 0 && row.distances[i] < row.distances[i - 1]) return fmt::format("rank {} is out of order", i);
  }
  return {};
}

struct Answer {
  std::vector<float> distances;
  std::vector<std::int64_t> ids;
};

Answer true_neighbors(const MatrixView<float>& base, const Points& queries, std::int64_t k, cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(queries.size()) / kDims;
  const auto points = on_device(queries, stream);
  cuda::DeviceBuffer<float> distances(static_cast<std::size_t>(count * k), stream);
  cuda::DeviceBuffer<std::int64_t> ids(static_cast<std::size_t>(count * k), stream);
  const auto index = cuda::make_pointer_index(base, Metric(MetricKind::euclidean), false, stream);
  const Problem problem{base.rows, count, kDims, k, DType::float32};
  const Plan plan = plan::choose(problem, Options(), cuda::device_facts());
  SearchReport report;
  index->search(MatrixView<float>(points.data(), count, kDims), plan, distances.data(), ids.data(), stream, report);
  return {on_host(distances.data(), count * k, stream), on_host(ids.data(), count * k, stream)};
}

void judge(Result& result, const MatrixView<float>& device_base, const Points& base, const Points& queries,
           const float* distances, const std::int64_t* ids, std::int64_t sample, cudaStream_t stream) {
  const std::int64_t k = result.of.k;
  const auto count = static_cast<std::int64_t>(queries.size()) / kDims;
  result.sample = std::min(sample, count);
  const auto all_distances = on_host(distances, count * k, stream);
  const auto all_ids = on_host(ids, count * k, stream);
  const std::int64_t step = count / result.sample;
  Points chosen;
  for (std::int64_t i = 0; i < result.sample; ++i)
    chosen.insert(chosen.end(), queries.begin() + kDims * i * step, queries.begin() + kDims * (i * step + 1));
  const Answer truth = true_neighbors(device_base, chosen, k, stream);
  std::vector<double> ratios;
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < result.sample; ++i) {
    const Row row{all_distances.data() + i * step * k, all_ids.data() + i * step * k};
    if (result.fault.empty()) {
      const std::string fault = row_fault(row, k, chosen.data() + kDims * i, base);
      if (!fault.empty()) result.fault = fmt::format("query {}: {}", i * step, fault);
    }
    const float last = truth.distances[static_cast<std::size_t>(i * k + k - 1)];
    right += std::count_if(row.distances, row.distances + k, [=](float found) { return found <= last; });
    ratios.push_back(row.distances[k - 1] == last ? 1 : static_cast<double>(row.distances[k - 1]) / last);
  }
  result.recall = static_cast<double>(right) / static_cast<double>(result.sample * k);
  result.ratios = summarize_ratios(std::move(ratios));
}

}  // namespace

Result measure(const Case& one, const Points& base, const Points& queries, const Rounds& rounds) {
  keep_memory();
  const cuda::Stream stream;
  const auto base_points = on_device(base, stream);
  const auto query_points = on_device(queries, stream);
  Options options;
  options.method = Method::shifted_sort;
  options.shifted_sort = one.tuning;
  const Problem problem{one.base, one.queries, kDims, one.k, DType::float32};
  const Plan plan = plan::choose(problem, options, cuda::device_facts());
  cuda::DeviceBuffer<float> distances(static_cast<std::size_t>(one.queries * one.k), stream);
  cuda::DeviceBuffer<std::int64_t> ids(static_cast<std::size_t>(one.queries * one.k), stream);
  cuda::shifted_sort::ShiftedSortSets<float> sets;
  sets.base = {base_points.data(), one.base, kDims};
  sets.queries = {query_points.data(), one.queries, kDims};
  cuda::Workspace workspace(stream, static_cast<std::size_t>(plan.workspace_bytes));
  Result result;
  result.of = one;
  result.tuning = plan.shifted_sort;
  std::vector<double> orders_ms;
  std::vector<double> search_ms;
  for (int round = -rounds.warm_up; round < rounds.timed; ++round) {
    cuda::Event start;
    cuda::Event ordered;
    cuda::Event done;
    stream.synchronize();
    start.record(stream);
    workspace.reset();
    const cuda::shifted_sort::CurveBase<float> orders(sets.base, kDims, core::curve_shifts(plan.shifted_sort),
                                                      plan.shifted_sort.curve, cuda::shifted_sort::sorting_of(plan),
                                                      workspace);
    ordered.record(stream);
    sets.orders = orders.orders();
    cuda::shifted_sort::shifted_sort_search(cuda::shifted_sort::shifted_sort_work(plan), sets, distances.data(),
                                            ids.data(), workspace, [](std::int64_t) {});
    done.record(stream);
    done.synchronize();
    if (round < 0) continue;
    orders_ms.push_back(static_cast<double>(ordered.since(start)));
    search_ms.push_back(static_cast<double>(done.since(ordered)));
  }
  result.orders_ms = median_of(orders_ms);
  result.search_ms = median_of(search_ms);
  workspace.clear();
  judge(result, MatrixView<float>(base_points.data(), one.base, kDims), base, queries, distances.data(), ids.data(),
        rounds.sample, stream);
  return result;
}

}  // namespace kith::lowdim_bench
