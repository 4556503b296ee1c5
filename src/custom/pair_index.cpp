// pair_index.cpp: the public searches by a PairMetric: arguments are checked, the work is sized and done.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "api/guard.hpp"
#include "api/validate.hpp"
#include "backend/machine.hpp"
#include "backend/registry.hpp"
#include "core/aligned.hpp"
#include "core/elements.hpp"
#include "core/instantiate.hpp"
#include "core/order.hpp"
#include "cpu/facts.hpp"
#include "cpu/parallel.hpp"
#include "cpu/simd/kernels.hpp"
#include "custom/device_pairs.hpp"
#include "custom/mapped_part.hpp"
#include "custom/pair_search.hpp"
#include "custom/tile_distances.hpp"
#include "kith/index.hpp"
#include "kith/pair_metric.hpp"

namespace kith {
namespace {

using custom::device_obstacle;

[[noreturn]] void refuse(const PairMetric& metric, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, fmt::format("metric '{}' {}", metric.name(), what));
}

// What only other metrics have is refused, not passed over.
void check_options(const PairMetric& metric, const Options& options) {
  const bool asks_for_device = options.backend != Backend::automatic && options.backend != Backend::cpu;
  if (asks_for_device && custom::has_device_code(metric)) {
    if (const std::string obstacle = device_obstacle(metric, options.backend); !obstacle.empty())
      refuse(metric, fmt::format("is not computed by backend {}: {}", to_string(options.backend), obstacle));
    if (options.method != Method::automatic && options.method != Method::brute)
      refuse(metric, fmt::format("is searched by brute force; method {} was asked for", to_string(options.method)));
    if (!backend::is_available(options.backend))
      throw Error(ErrorCode::no_device, backend::unavailable_reason(options.backend));
  } else if (asks_for_device && custom::wants_brute(options)) {
    refuse(metric, fmt::format("is computed on the CPU; backend {} was asked for", to_string(options.backend)));
  }
  if (options.method == Method::shifted_sort) refuse(metric, "has no approximate search; method shifted-sort has");
  if (options.distance != DistanceStage::automatic && options.distance != DistanceStage::exact)
    refuse(metric,
           fmt::format("has exact distances only; distance stage {} was asked for", to_string(options.distance)));
  if (options.select != SelectMethod::automatic && options.select != SelectMethod::threshold_filter)
    refuse(metric, fmt::format("has selection threshold-filter; {} was asked for", to_string(options.select)));
  if (options.metric != Metric())
    refuse(metric, fmt::format("was given, and options.metric = {} too", to_string(options.metric)));
  if (options.epsilon != 0) refuse(metric, fmt::format("has no use for epsilon = {}", options.epsilon));
  if (!options.period.empty()) refuse(metric, "has no periodic axes; method tree has");
  if (options.statistics) refuse(metric, "has no statistics");
  api::refuse_devices(options, "metrics by their definition");
  Options checked = options;
  checked.backend = Backend::cpu;
  checked.method = Method::brute;
  checked.distance = DistanceStage::automatic;
  checked.select = SelectMethod::automatic;
  api::check_options(checked);
}

template <Element T>
void check_host(const PairMetric& metric, const MatrixView<T>& points, const char* role) {
  api::check_view(points, role);
  api::check_dims(points.cols);
  if (points.memory != Memory::host)
    refuse(metric, fmt::format("is computed of points in host memory; the {} lie on a device", role));
}

// NaN passes where the metric takes it.
template <Element T>
void check_values(const PairMetric& metric, const MatrixView<T>& points, const char* role) {
  if constexpr (core::kIsFloating<T>) {
    using F = DistanceOf<T>;
    const bool takes_nan = metric.takes_nan();
    const bool packed = points.col_stride == 1;
    for (std::int64_t r = 0; r < points.rows; ++r) {
      if (packed && cpu::find_beyond(points.row(r), points.cols, std::numeric_limits<T>::max()) < 0) continue;
      for (std::int64_t c = 0; c < points.cols; ++c) {
        const auto value = static_cast<F>(points(r, c));
        if (std::isfinite(value) || (takes_nan && std::isnan(value))) continue;
        throw Error(ErrorCode::bad_data,
                    fmt::format("{} row {}, column {} is {}; values must be finite{} (check_finite)", role, r, c, value,
                                takes_nan ? " or NaN" : ""));
      }
    }
  }
}

template <class D>
void check_radii(std::span<const D> radii, std::int64_t queries) {
  const auto count = static_cast<std::int64_t>(radii.size());
  if (count != 1 && count != queries)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} radii for {} queries; one for all or one for each is needed", count, queries));
  for (std::size_t i = 0; i < radii.size(); ++i)
    if (std::isnan(radii[i]))
      throw Error(ErrorCode::invalid_argument, fmt::format("radius = nan of query {}; it must be a number", i));
}

}  // namespace

namespace custom {

// What an index does. Functions of its State would be exported.
template <Element T>
struct PairSearcher {
  using D = DistanceOf<T>;

  std::shared_ptr<const PairMetric> metric;
  MatrixView<T> base;
  Options options;
  core::AlignedVector<double> panels;  // empty where the base is only viewed
  std::optional<Index<T>> built_in;    // that searches in the place of all this
  std::unique_ptr<MappedPart> mapped;  // null where every distance is computed
  std::unique_ptr<DevicePairBase<T>> on_device = std::make_unique<DevicePairBase<T>>();

  PairProblem<T> problem(const MatrixView<T>& queries, bool exclude_self) const {
    return {*metric, base, queries, panels.empty() ? nullptr : panels.data(), exclude_self};
  }

  void check_queries(const MatrixView<T>& queries) const {
    check_host(*metric, queries, "queries");
    api::check_same_dims(base.cols, queries.cols);
    if (options.check_finite) check_values(*metric, queries, "queries");
  }

  void check_k(std::int64_t k, bool exclude_self) const {
    constexpr std::int64_t kMostPadded = std::int64_t{1} << 48;  // more than memory can hold
    if (options.pad_missing) return api::check_k(k, kMostPadded, "the most that can be asked for is");
    api::check_k(k, base.rows - (exclude_self ? 1 : 0),
                 exclude_self ? "the number of other points is" : "the number of base points is");
  }

  SearchReport report(const PairPlan& sizes, std::int64_t queries, std::int64_t k, bool self) const {
    SearchReport report;
    Plan& plan = report.plan;
    plan.problem = {base.rows, queries, base.cols, k, dtype_of<T>(), self};
    plan.max_distance = options.max_distance;
    plan.backend = Backend::cpu;
    plan.method = Method::brute;
    plan.distance = DistanceStage::exact;
    plan.select = SelectMethod::threshold_filter;
    plan.threads = sizes.threads;
    plan.threads_reason = options.threads > 0 ? "asked for by name" : "the work is worth so many";
    plan.query_block = sizes.query_block;
    plan.base_tile = sizes.base_tile;
    plan.base_splits = sizes.splits;
    plan.workspace_bytes = sizes.workspace_bytes;
    plan.budget_bytes = options.memory_budget;
    plan.reason = fmt::format("metric '{}': every distance by its definition, in double", metric->name());
    report.finalists = queries * base.rows;
    return report;
  }

  // Calls work(backend, report) where a device searches, and completes the report. False where the CPU is to do it:
  // also what a device turns out to have no room for, where nobody asked for one.
  template <class Work>
  bool run_on_device(const MatrixView<T>& queries, std::int64_t k, bool self, SearchReport& made, Work work) const {
    const Backend backend = choose_backend(*metric, options, queries.rows, base.rows, base.cols);
    if (backend == Backend::cpu) return false;
    const auto start = std::chrono::steady_clock::now();
    try {
      work(backend, made);
    } catch (const Error& error) {
      if (options.backend != Backend::automatic || error.code() == ErrorCode::cancelled) throw;
      return false;
    }
    made.plan.problem = {base.rows, queries.rows, base.cols, k, dtype_of<T>(), self};
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return true;
  }

  // Calls work(problem, sizes) and reports it.
  template <class Work>
  SearchReport run(const MatrixView<T>& queries, std::int64_t k, bool exclude_self, Work work) const {
    const auto start = std::chrono::steady_clock::now();
    const PairProblem<T> asked = problem(queries, exclude_self);
    const PairPlan sizes = plan_pairs(asked, k, options);
    work(asked, sizes);
    SearchReport made = report(sizes, queries.rows, k, exclude_self);
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return made;
  }

  // The same by images, if they pay: work(problem, images). False where a budget has no room for that.
  template <class Work>
  bool run_mapped(const MatrixView<T>& queries, std::int64_t k, bool exclude_self, SearchReport& made,
                  Work work) const {
    if (mapped == nullptr) return false;
    const auto start = std::chrono::steady_clock::now();
    const PairProblem<T> asked = problem(queries, exclude_self);
    try {
      const ImageIndex* images = mapped->images_for(asked, queries.rows, k, options);
      if (images == nullptr) return false;
      const Problem shape{base.rows, queries.rows, base.cols, k, dtype_of<T>(), exclude_self};
      made = mapped_report(*metric, work(asked, *images), shape, options.max_distance);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || wants_images(options)) throw;
      return false;
    }
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return true;
  }

  Neighbors<D> nearest(const MatrixView<T>& queries, std::int64_t k, bool exclude_self) const {
    check_k(k, exclude_self);
    api::check_sizes(queries.rows, base.rows, k);
    api::check_output(queries.rows, k, sizeof(std::int64_t) + sizeof(D));
    Neighbors<D> found;
    found.queries = queries.rows;
    found.k = k;
    found.ids.resize(static_cast<std::size_t>(queries.rows * k));
    found.distances.resize(found.ids.size());
    const NeighborsView<D> out{found.ids.data(), found.distances.data()};
    if (run_on_device(queries, std::min(k, base.rows), exclude_self, found.report,
                      [&](Backend backend, SearchReport& report) {
                        on_device->search(*metric, base, queries, backend, k, exclude_self, options, out, report);
                      }))
      return found;
    if (run_mapped(queries, k, exclude_self, found.report, [&](const auto& asked, const ImageIndex& images) {
          return nearest_mapped(asked, images, k, options, out);
        }))
      return found;
    found.report = run(queries, std::min(k, base.rows), exclude_self,
                       [&](const auto& asked, const auto& sizes) { nearest_pairs(asked, sizes, k, options, out); });
    return found;
  }

  RadiusNeighbors<D> within(const MatrixView<T>& queries, std::span<const D> radii, RadiusOutput output,
                            bool exclude_self) const {
    check_radii(radii, queries.rows);
    api::check_sizes(queries.rows, base.rows, 1);
    if (std::isfinite(options.max_distance))
      refuse(*metric, fmt::format("has max_distance = {} for the k nearest; a radius search has its radius",
                                  options.max_distance));
    RadiusNeighbors<D> found;
    found.queries = queries.rows;
    found.offsets.resize(static_cast<std::size_t>(queries.rows) + 1);
    RadiusLists<D> lists{found.offsets.data(), {}, Memory::host};
    if (output == RadiusOutput::neighbors)
      lists.allocate = [&](std::int64_t count) {
        found.ids.resize(static_cast<std::size_t>(count));
        found.distances.resize(found.ids.size());
        return NeighborsView<D>{found.ids.data(), found.distances.data()};
      };
    constexpr auto kHitBytes = static_cast<std::int64_t>(sizeof(core::Hit<D>) + sizeof(std::int64_t) + sizeof(D));
    const std::int64_t most = output == RadiusOutput::neighbors ? backend::free_memory().bytes / kHitBytes : 0;
    if (run_on_device(queries, 0, exclude_self, found.report, [&](Backend backend, SearchReport& report) {
          on_device->within(*metric, base, queries, backend, radii, exclude_self, most, options, lists, report);
        }))
      return found;
    if (run_mapped(queries, 0, exclude_self, found.report, [&](const auto& asked, const ImageIndex& images) {
          return within_mapped(asked, images, radii, most, options, lists);
        }))
      return found;
    found.report = run(queries, 0, exclude_self, [&](const auto& asked, const auto& sizes) {
      pairs_within(asked, sizes, radii, most, options, lists);
    });
    return found;
  }

  // What many searches need, or one that asks for images: images, or else panels of all rows.
  void prepare(bool keep) {
    const bool on_cpu = options.backend == Backend::automatic || options.backend == Backend::cpu;
    if (!on_cpu && has_device_code(*metric)) return;
    if (!wants_brute(options)) mapped = std::make_unique<MappedPart>(*metric, base.cols, options);
    if (mapped != nullptr && (keep || wants_images(options)))
      if (mapped->images_for(problem(base, false), 0, 1, options) != nullptr) return;
    if (keep) keep_panels();
  }

  // Panels of all rows, where there is room for them.
  void keep_panels() {
    if (metric->input() != PairMetric::Input::panels) return;
    const double bytes = 8.0 * static_cast<double>(padded_rows(base.rows)) * static_cast<double>(base.cols);
    const std::int64_t budget = options.memory_budget > 0 ? options.memory_budget : backend::free_memory().bytes / 4;
    if (bytes > static_cast<double>(budget)) return;
    panels.resize(static_cast<std::size_t>(padded_rows(base.rows) * base.cols));
    constexpr std::int64_t kPackedRows = 64 * kPanelRows;
    constexpr double kValueSeconds = 1e-9;
    const int threads =
        std::min(cpu::threads_for(options.threads, bytes / 8 * kValueSeconds), std::max(metric->most_threads(), 1));
    cpu::parallel_for(threads, (base.rows + kPackedRows - 1) / kPackedRows, [&](std::int64_t chunk, int) {
      const std::int64_t first = chunk * kPackedRows;
      core::AlignedVector<double> scratch(static_cast<std::size_t>(kPanelRows * base.cols));
      pack_panels(*metric, base, first, std::min(kPackedRows, base.rows - first), scratch.data(),
                  panels.data() + first * base.cols);
    });
  }
};

}  // namespace custom

template <Element T>
struct PairIndex<T>::State : custom::PairSearcher<T> {};

template <Element T>
PairIndex<T>::PairIndex(std::shared_ptr<const PairMetric> metric, MatrixView<T> base, Options options, Keep keep) {
  state_ = api::guarded([&] {
    if (metric == nullptr) throw Error(ErrorCode::invalid_argument, "the metric is a null pointer");
    auto state = std::make_unique<State>();
    state->metric = std::move(metric);
    state->base = base;
    state->options = std::move(options);
    if (const std::optional<Metric> known = state->metric->built_in()) {
      if (state->options.metric != Metric())
        refuse(*state->metric, fmt::format("was given, and options.metric = {} too", to_string(state->options.metric)));
      Options same = state->options;
      same.metric = *known;
      state->built_in.emplace(base, std::move(same));
      return state;
    }
    check_options(*state->metric, state->options);
    check_host(*state->metric, base, "base");
    state->metric->check(base.cols);
    if (state->options.check_finite) check_values(*state->metric, base, "base");
    state->prepare(keep == Keep::panels);
    return state;
  });
}

template <Element T>
PairIndex<T>::PairIndex(PairIndex&&) noexcept = default;
template <Element T>
PairIndex<T>& PairIndex<T>::operator=(PairIndex&&) noexcept = default;
template <Element T>
PairIndex<T>::~PairIndex() = default;

template <Element T>
std::int64_t PairIndex<T>::rows() const {
  return state_->base.rows;
}

template <Element T>
std::int64_t PairIndex<T>::dims() const {
  return state_->base.cols;
}

template <Element T>
const PairMetric& PairIndex<T>::metric() const {
  return *state_->metric;
}

template <Element T>
auto PairIndex<T>::search(MatrixView<T> queries, std::int64_t k) const -> Neighbors<D> {
  return api::guarded([&] {
    if (state_->built_in) return state_->built_in->search(queries, k);
    state_->check_queries(queries);
    return state_->nearest(queries, k, false);
  });
}

template <Element T>
auto PairIndex<T>::search_self(std::int64_t k) const -> Neighbors<D> {
  return api::guarded([&] {
    if (state_->built_in) return state_->built_in->search_self(k);
    return state_->nearest(state_->base, k, true);
  });
}

template <Element T>
auto PairIndex<T>::search_radius(MatrixView<T> queries, std::span<const D> radii, RadiusOutput output) const
    -> RadiusNeighbors<D> {
  return api::guarded([&] {
    if (state_->built_in) return state_->built_in->search_radius(queries, radii, output);
    state_->check_queries(queries);
    return state_->within(queries, radii, output, false);
  });
}

template <Element T>
auto PairIndex<T>::search_radius_self(std::span<const D> radii, RadiusOutput output) const -> RadiusNeighbors<D> {
  return api::guarded([&] {
    if (state_->built_in) return state_->built_in->search_radius_self(radii, output);
    return state_->within(state_->base, radii, output, true);
  });
}

template <Element T>
auto PairIndex<T>::distances(MatrixView<T> queries) const -> Matrix<D> {
  return api::guarded([&] {
    if (state_->built_in) return kith::distances(state_->base, queries, state_->built_in->options());
    state_->check_queries(queries);
    const Backend wanted = state_->options.backend;
    if (wanted != Backend::automatic && wanted != Backend::cpu && !custom::has_device_code(*state_->metric))
      refuse(*state_->metric,
             fmt::format("has matrices of distances on the CPU; backend {} was asked for", to_string(wanted)));
    api::check_sizes(queries.rows, state_->base.rows, 1);
    api::check_output(queries.rows, state_->base.rows, sizeof(D));
    Matrix<D> out(queries.rows, state_->base.rows);
    SearchReport report;
    if (state_->run_on_device(queries, 0, false, report, [&](Backend backend, SearchReport&) {
          state_->on_device->distances(*state_->metric, state_->base, queries, backend, state_->options, out.data());
        }))
      return out;
    const custom::PairProblem<T> asked = state_->problem(queries, false);
    custom::all_pairs(asked, custom::plan_pairs(asked, 0, state_->options), state_->options, out.data());
    return out;
  });
}

#define KITH_INSTANTIATE(T) template class KITH_API PairIndex<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
