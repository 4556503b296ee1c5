// device_pairs.cpp: points become rows of the type that distances are returned in, and lists of hits an answer.
#include "custom/device_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "backend/registry.hpp"
#include "core/formula_passes.hpp"
#include "core/instantiate.hpp"
#include "core/max_distance.hpp"
#include "cpu/facts.hpp"
#include "custom/formula_metric.hpp"
#include "custom/pair_search.hpp"
#include "kith/error.hpp"

namespace kith::custom {
namespace {

// Rows and views of them must outlive what is returned.
template <Element T>
backend::PairRows<DistanceOf<T>> rows_of(const MatrixView<T>& points) {
  using D = DistanceOf<T>;
  return {points.rows, points.cols, [&points](std::int64_t first, std::int64_t count, D* out) {
            for (std::int64_t r = first; r < first + count; ++r) {
              const T* const row = points.row(r);
              for (std::int64_t c = 0; c < points.cols; ++c) *out++ = static_cast<D>(row[c * points.col_stride]);
            }
          }};
}

void describe(const PairMetric& metric, Backend backend, const Options& options, const backend::PairDeviceWork& work,
              SearchReport& report) {
  Plan& plan = report.plan;
  plan.backend = backend;
  plan.method = Method::brute;
  plan.distance = work.candidates > 0 ? DistanceStage::register_tiled : DistanceStage::exact;
  plan.select = SelectMethod::automatic;
  plan.max_distance = options.max_distance;
  plan.threads = 1;
  plan.query_block = work.query_block;
  plan.base_tile = work.base_tile;
  plan.candidates = work.candidates;
  plan.workspace_bytes = work.workspace_bytes;
  plan.peak_bytes = work.workspace_bytes;
  plan.budget_bytes = work.budget_bytes;
  const std::vector<Device> found = devices(backend);
  if (!found.empty()) plan.device = found.front().name;
  const char* const compiled = dynamic_cast<const FormulaMetric*>(&metric) == nullptr ? "a functor of the caller's"
                               : backend == Backend::cuda ? "compiled for this device by NVRTC"
                                                          : "interpreted step by step";
  plan.reason =
      fmt::format("metric '{}', {}: {}", metric.name(), compiled,
                  work.candidates == 0 ? "every distance by its definition, in double"
                  : work.scores_in_float
                      ? "scores in float whose error is bounded, distances in double of those that may be neighbors"
                      : "distances in double, of which those below a limit are listed");
  report.finalists = work.keys;
}

}  // namespace

bool has_device_code(const PairMetric& metric) {
  return dynamic_cast<const FormulaMetric*>(&metric) != nullptr || dynamic_cast<const DevicePairs*>(&metric) != nullptr;
}

std::string device_obstacle(const PairMetric& metric, Backend backend) {
  const auto* const formula = dynamic_cast<const FormulaMetric*>(&metric);
  if (formula == nullptr) return backend == Backend::cuda ? "" : "a functor for nvcc is computed by backend cuda";
  if (!core::is_reproducible(formula->formula()))
    return "exp, log, sin, cos, asin, acos and powers other than 1 to 4 are rounded otherwise on a device, so that its "
           "answer would not be that of the CPU";
  return "";
}

Backend choose_backend(const PairMetric& metric, const Options& options, std::int64_t queries, std::int64_t rows,
                       std::int64_t dims) {
  if (!has_device_code(metric)) return Backend::cpu;
  if (options.backend != Backend::automatic) return options.backend;
  constexpr double kWorthSeconds = 2;  // points are brought, and a formula compiled, in less than half of that
  if (options.threads > 0 || options.memory_budget > 0) return Backend::cpu;
  const double seconds = static_cast<double>(queries) * static_cast<double>(rows) * metric.pair_seconds(dims);
  if (seconds / cpu::threads_for(0, seconds) < kWorthSeconds) return Backend::cpu;
  if (!device_obstacle(metric, Backend::cuda).empty()) return Backend::cpu;
  if (!backend::is_available(Backend::cuda)) return Backend::cpu;
  const bool is_formula = dynamic_cast<const DevicePairs*>(&metric) == nullptr;
  if (is_formula && !backend::formula_obstacle(Backend::cuda).empty()) return Backend::cpu;
  const plan::Machine machine = backend::machine_of(Backend::cuda, Backend::automatic);
  const auto* const device = std::get_if<core::DeviceFacts>(&machine);
  const double bytes = 8.0 * static_cast<double>(rows) * static_cast<double>(dims);
  return device != nullptr && 4 * bytes < static_cast<double>(device->free_memory) ? Backend::cuda : Backend::cpu;
}

template <Element T>
auto DevicePairBase<T>::index(const PairMetric& metric, const MatrixView<T>& base, Backend where,
                              const Options& options) -> const backend::BackendPairIndex<D>& {
  const std::lock_guard lock(mutex_);
  if (index_ == nullptr) {
    const auto* const formula = dynamic_cast<const FormulaMetric*>(&metric);
    const backend::PairRows<D> rows = rows_of(base);
    index_ = backend::make_pair_index<D>(where, {rows, formula == nullptr ? nullptr : &formula->formula(),
                                                 dynamic_cast<const DevicePairs*>(&metric), options.memory_budget});
  }
  return *index_;
}

template <Element T>
void DevicePairBase<T>::search(const PairMetric& metric, const MatrixView<T>& base, const MatrixView<T>& queries,
                               Backend backend, std::int64_t k, bool exclude_self, const Options& options,
                               const NeighborsView<D>& out, SearchReport& report) {
  const std::int64_t others = base.rows - (exclude_self ? 1 : 0);
  // The query itself may be among them, and goes afterwards.
  const std::int64_t found = std::min(k, others) + (exclude_self ? 1 : 0);
  const D largest = core::largest_within<D>(options.max_distance);
  const backend::PairRows<D> rows = rows_of(queries);
  const backend::PairDeviceWork work =
      index(metric, base, backend, options).nearest(rows, found, options.progress, [&](std::int64_t query, auto hits) {
        write_row(std::move(hits), exclude_self ? query : -1, k, largest, out.ids + query * k,
                  out.distances + query * k);
      });
  describe(metric, backend, options, work, report);
}

template <Element T>
void DevicePairBase<T>::within(const PairMetric& metric, const MatrixView<T>& base, const MatrixView<T>& queries,
                               Backend backend, std::span<const D> radii, bool exclude_self, std::int64_t most,
                               const Options& options, const RadiusLists<D>& out, SearchReport& report) {
  const bool lists = static_cast<bool>(out.allocate);
  std::vector<core::Hit<D>> all;
  out.offsets[0] = 0;
  const auto take = [&](std::int64_t query, std::vector<core::Hit<D>> hits) {
    if (exclude_self) std::erase_if(hits, [query](const core::Hit<D>& hit) { return hit.id == query; });
    out.offsets[query + 1] = out.offsets[query] + std::ssize(hits);
    if (!lists) return;
    all.insert(all.end(), hits.begin(), hits.end());
    if (std::ssize(all) > most)
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("more than {} neighbors lie within the radius; free memory holds no more of them", most));
  };
  const backend::PairRows<D> rows = rows_of(queries);
  describe(metric, backend, options, index(metric, base, backend, options).within(rows, radii, options.progress, take),
           report);
  if (!lists) return;
  const NeighborsView<D> to = out.allocate(std::ssize(all));
  for (std::size_t i = 0; i < all.size(); ++i) {
    to.ids[i] = all[i].id;
    to.distances[i] = all[i].key;
  }
}

template <Element T>
void DevicePairBase<T>::distances(const PairMetric& metric, const MatrixView<T>& base, const MatrixView<T>& queries,
                                  Backend backend, const Options& options, D* out) {
  const backend::PairRows<D> rows = rows_of(queries);
  index(metric, base, backend, options).distances(rows, options.progress, out);
}

#define KITH_INSTANTIATE(T) template class DevicePairBase<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::custom
