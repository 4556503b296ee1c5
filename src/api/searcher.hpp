// searcher.hpp: a prepared base and the steps of a search: prepare the queries, plan, run. Arguments are checked
// before. Method automatic asks the data, by a sample, whether triangle would pay.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "api/devices.hpp"
#include "api/sample_quality.hpp"
#include "api/validate.hpp"
#include "core/key.hpp"
#include "cpu/brute/brute_search.hpp"
#include "cpu/facts.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/radius/radius_search.hpp"
#include "cpu/shifted_sort/cached_orders.hpp"
#include "cpu/triangle/surviving_fraction.hpp"
#include "cpu/triangle/triangle_search.hpp"
#include "kith/radius.hpp"
#include "kith/search.hpp"
#include "plan/choose.hpp"

namespace kith::api {

template <Element T>
class Searcher {
 public:
  // `queries` is 0 when unknown: an index may meet any number of them, so it keeps norms for the matrix product.
  // options.backend is one that is there.
  Searcher(MatrixView<T> base, Options options, std::int64_t queries, std::int64_t k)
      : base_(base), options_(std::move(options)), machine_(cpu::facts()) {
    if (on_device()) device_facts_ = device_facts(options_.backend);
    const Problem problem{base_.rows, 1, base_.cols, 1, dtype_of<T>()};
    const plan::IndexFacts index = plan::choose_index(problem, options_, machine());
    if (on_device()) {
      if (queries > 0) plan_for(queries, k);  // refuses before anything is copied
      prepare(base_, "base");
      device_ = make_device_index(options_.backend, base_, options_.metric, index.resident);
      return;
    }
    const core::Form form = core::form_of(options_.metric);
    has_norms_ = queries == 0 ? form == core::Form::dot || (form == core::Form::squared && index.has_norms)
                              : plan::needs_norms(plan_for(queries, k));
    if (options_.method == Method::triangle || options_.method == Method::shifted_sort) has_norms_ = false;
    prepared_ = prepare(base_, "base");
    // An index is made for many searches: it has its clusters before the first.
    if (queries == 0 && options_.method == Method::triangle) clusters_for(plan_for(1, 1));
  }

  const MatrixView<T>& base() const { return base_; }
  const Options& options() const { return options_; }

  SearchReport run(MatrixView<T> queries, std::int64_t k, std::int64_t* ids, DistanceOf<T>* distances) const {
    const auto start = std::chrono::steady_clock::now();
    const cpu::PreparedRows<T> prepared_queries = prepare(queries, "query");
    SearchReport report;
    if (device_ != nullptr) {
      const Problem problem{base_.rows, queries.rows, base_.cols, k, dtype_of<T>()};
      const plan::DataSamples samples{[&](const Plan& plan) {
                                        return plan::SurvivingFractions{device_->surviving_fraction(queries, plan), 1};
                                      },
                                      [&](const Plan& plan) { return device_->holds(queries, plan); },
                                      {}};
      report.plan = plan::choose(problem, options_, device_facts_, {}, samples);
      device_->search(queries, report.plan, options_.progress, ids, distances, report);
    } else {
      report.plan = choose_for(prepared_queries, k);
      if (report.plan.method == Method::triangle) {
        run_triangle(prepared_queries, ids, distances, report);
      } else if (report.plan.method == Method::shifted_sort) {
        report.finalists = curve_.search(prepared_, prepared_queries, report.plan, options_.progress, ids, distances);
      } else {
        report.finalists =
            cpu::brute_search(prepared_, prepared_queries, report.plan, options_.progress, ids, distances);
      }
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (report.plan.approximate && report.plan.statistics)
      report.quality = sample_quality(base_, queries, k, distances, options_);
    return report;
  }

  // Whether neighbors can be reduced where they are found.
  bool reduces(std::int64_t queries, std::int64_t k) const {
    return device_ != nullptr && options_.method == Method::shifted_sort && reduces_in_search(plan_for(queries, k));
  }

  // As DeviceIndex::reduce().
  SearchReport reduce(MatrixView<T> queries, std::int64_t k, const core::Reduction& reduction,
                      const MatrixView<DistanceOf<T>>& values, DistanceOf<T>* out) const {
    prepare(queries, "query");
    SearchReport report;
    report.plan = plan_for(queries.rows, k);
    device_->reduce(queries, report.plan, options_.progress, reduction, values, out);
    return report;
  }

  Neighbors<DistanceOf<T>> search(MatrixView<T> queries, std::int64_t k) const {
    check_output(queries.rows, k, sizeof(std::int64_t) + sizeof(DistanceOf<T>));
    Neighbors<DistanceOf<T>> found;
    found.queries = queries.rows;
    found.k = k;
    found.ids.resize(static_cast<std::size_t>(queries.rows * k));
    found.distances.resize(found.ids.size());
    found.report = run(queries, k, found.ids.data(), found.distances.data());
    return found;
  }

  RadiusNeighbors<DistanceOf<T>> search_radius(MatrixView<T> queries,
                                               const core::RadiusQuery<DistanceOf<T>>& reach) const {
    const auto start = std::chrono::steady_clock::now();
    RadiusNeighbors<DistanceOf<T>> found;
    core::RadiusResult<DistanceOf<T>> reached = reach_of(queries, reach, found.report.plan);
    found.queries = queries.rows;
    found.offsets = std::move(reached.offsets);
    found.ids = std::move(reached.ids);
    found.distances = std::move(reached.distances);
    found.report.finalists = reached.finalists;
    found.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return found;
  }

 private:
  bool on_device() const { return options_.backend == Backend::cuda || options_.backend == Backend::emulated; }

  // Sets the plan, and follows it.
  core::RadiusResult<DistanceOf<T>> reach_of(MatrixView<T> queries, const core::RadiusQuery<DistanceOf<T>>& reach,
                                             Plan& plan) const {
    const Problem problem{base_.rows, queries.rows, base_.cols, 0, dtype_of<T>()};
    if (device_ != nullptr) {
      plan = plan::choose_radius(problem, options_, device_facts_);
      prepare(queries, "query");
      return device_->search_radius(queries, plan, reach, options_.progress);
    }
    std::optional<cpu::PreparedRows<T>> prepared_queries;
    const auto products_are_sharp = [&] {
      prepared_queries = prepare(queries, "query");
      return cpu::expansion_is_sharp(prepared_, *prepared_queries);
    };
    plan = plan::choose_radius(problem, options_, machine_, {.has_norms = has_norms_}, {{}, {}, products_are_sharp});
    if (!prepared_queries) prepared_queries = prepare_with_norms(queries, plan, "query");
    return cpu::radius_search(prepared_, *prepared_queries, plan, reach, options_.progress);
  }

  // On a device what is prepared is not used: this is for the checks.
  cpu::PreparedRows<T> prepare(MatrixView<T> view, const char* role) const {
    const int threads = options_.threads > 0 ? options_.threads : machine_.threads;
    return cpu::prepare_rows(view, options_.metric, {role, options_.check_finite, has_norms_, threads});
  }

  cpu::PreparedRows<T> prepare_with_norms(MatrixView<T> view, const Plan& plan, const char* role) const {
    const int threads = options_.threads > 0 ? options_.threads : machine_.threads;
    return cpu::prepare_rows(view, options_.metric, {role, options_.check_finite, plan::needs_norms(plan), threads});
  }

  Plan plan_for(std::int64_t queries, std::int64_t k) const {
    const Problem problem{base_.rows, queries, base_.cols, k, dtype_of<T>()};
    return plan::choose(problem, options_, machine());
  }

  plan::Machine machine() const { return on_device() ? plan::Machine(device_facts_) : plan::Machine(machine_); }

  Plan choose_for(const cpu::PreparedRows<T>& queries, std::int64_t k) const {
    const Problem problem{base_.rows, queries.view.rows, base_.cols, k, dtype_of<T>()};
    const auto surviving = [&](const Plan& plan) {
      return cpu::surviving_fractions(prepared_, queries, k, plan.triangle.base_landmarks);
    };
    return plan::choose(problem, options_, machine_, {has_norms_, has_clusters(), true},
                        {surviving, {}, [&] { return cpu::expansion_is_sharp(prepared_, queries); }});
  }

  bool has_clusters() const {
    const std::lock_guard<std::mutex> lock(clusters_mutex_);
    return clusters_ != nullptr;
  }

  // Made once, by the first who needs them; `made` tells whether that was now.
  const cpu::TriangleBase<T>& clusters_for(const Plan& plan, bool* made = nullptr) const {
    const std::lock_guard<std::mutex> lock(clusters_mutex_);
    if (made != nullptr) *made = clusters_ == nullptr;
    if (clusters_ == nullptr)
      clusters_ = std::make_unique<cpu::TriangleBase<T>>(
          cpu::make_triangle_base(prepared_, plan.triangle.base_landmarks, plan.threads));
    return *clusters_;
  }

  void run_triangle(const cpu::PreparedRows<T>& queries, std::int64_t* ids, DistanceOf<T>* distances,
                    SearchReport& report) const {
    bool made = false;
    const cpu::TriangleBase<T>& clusters = clusters_for(report.plan, &made);
    TriangleStatistics statistics;
    if (made) statistics.steps = {{"landmarks", clusters.times.landmarks}, {"clusters", clusters.times.clusters}};
    report.finalists = cpu::triangle_search(prepared_, clusters, queries, report.plan, options_.progress, ids,
                                            distances, report.plan.statistics ? &statistics : nullptr);
    if (report.plan.statistics) report.triangle = std::move(statistics);
  }

  MatrixView<T> base_;
  Options options_;
  core::CpuFacts machine_;
  bool has_norms_ = false;
  cpu::PreparedRows<T> prepared_;
  mutable std::mutex clusters_mutex_;
  mutable std::unique_ptr<cpu::TriangleBase<T>> clusters_;  // of method triangle
  mutable cpu::CachedOrders<T> curve_;                      // of method shifted-sort
  core::DeviceFacts device_facts_;                          // as they were before the base took its part
  std::unique_ptr<DeviceIndex<T>> device_;
};

}  // namespace kith::api
