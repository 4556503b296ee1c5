// searcher.hpp: a prepared base and the steps of a search: prepare the queries, plan, run. Arguments are checked
// before. Method automatic asks the data, by a sample, whether triangle would pay.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "api/device_choice.hpp"
#include "api/devices.hpp"
#include "api/sample_quality.hpp"
#include "api/validate.hpp"
#include "core/key.hpp"
#include "cpu/brute/brute_search.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/radius/radius_search.hpp"
#include "cpu/shifted_sort/cached_orders.hpp"
#include "cpu/triangle/surviving_fraction.hpp"
#include "cpu/triangle/triangle_search.hpp"
#include "kith/radius.hpp"
#include "kith/search.hpp"
#include "plan/device_planner.hpp"
#include "plan/device_radius.hpp"
#include "plan/planner.hpp"
#include "plan/radius_planner.hpp"
#include "plan/shifted_planner.hpp"
#include "plan/triangle_planner.hpp"

namespace kith::api {

template <Element T>
class Searcher {
 public:
  // `queries` is 0 when unknown: an index may meet any number of them, so it keeps norms for the matrix product.
  // options.backend is one that is there.
  Searcher(MatrixView<T> base, Options options, std::int64_t queries, std::int64_t k)
      : base_(base), options_(std::move(options)), machine_(plan::cpu_facts()) {
    if (options_.method == Method::shifted_sort) plan::check_shifted_sort(options_, base_.cols);
    if (on_device()) {
      device_facts_ = device_facts(options_.backend);
      if (queries > 0) plan_for(queries, k);  // refuses before anything is copied
      prepare(base_, "base");
      const Problem problem{base_.rows, 1, base_.cols, 1, dtype_of<T>()};
      device_ = make_device_index(options_.backend, base_, options_.metric,
                                  plan::is_resident(problem, options_, device_facts_));
      return;
    }
    const core::Form form = core::form_of(options_.metric);
    // They may take half of the budget: without them Euclidean distances come from differences.
    const bool affordable = options_.memory_budget == 0 || base_.rows * 16 <= options_.memory_budget;
    has_norms_ = queries == 0 ? form == core::Form::dot || (form == core::Form::squared && affordable)
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
      report.plan = plan_on_device(problem, options_, options_.backend, device_facts_,
                                   {[&](const Plan& plan) { return device_->surviving_fraction(queries, plan); },
                                    [&](const Plan& plan) { return device_->holds(queries, plan); }});
      device_->search(queries, report.plan, options_.progress, ids, distances, report);
    } else {
      report.plan = choose(prepared_queries, k);
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
      plan = plan::plan_device_radius(problem, options_, options_.backend, device_facts_);
      prepare(queries, "query");
      return device_->search_radius(queries, plan, reach, options_.progress);
    }
    plan = plan::plan_cpu_radius(problem, options_, machine_, has_norms_);
    const cpu::PreparedRows<T> prepared_queries = prepare_with_norms(queries, plan, "query");
    plan.expanded = plan.expanded && cpu::expansion_is_sharp(prepared_, prepared_queries);
    return cpu::radius_search(prepared_, prepared_queries, plan, reach, options_.progress);
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
    if (on_device()) return plan::plan_device(problem, options_, options_.backend, device_facts_);
    return plan::plan_cpu(problem, options_, machine_);
  }

  // Brute force, unless a sample says that most of it is waste.
  Plan choose(const cpu::PreparedRows<T>& queries, std::int64_t k) const {
    Plan brute = plan_for(queries, k);
    if (!plan::may_choose_triangle(options_)) return brute;
    try {
      const Plan usual = plan::plan_cpu_triangle(brute.problem, options_, machine_);
      const std::int64_t landmarks = usual.triangle.base_landmarks;
      if (plan::sample_seconds(brute.problem, options_.metric, landmarks, machine_) >
          plan::kSampleCostLimit * brute.seconds)
        return brute;
      const plan::SurvivingFractions share = cpu::surviving_fractions(prepared_, queries, k, landmarks);
      Plan triangle = plan::plan_cpu_triangle(brute.problem, options_, machine_, share, has_clusters());
      if (triangle.seconds > plan::kTriangleMargin * brute.seconds) return brute;
      triangle.alternatives = std::move(brute.alternatives);
      triangle.alternatives.insert(triangle.alternatives.begin(), {brute.distance, brute.seconds});
      return triangle;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory && error.code() != ErrorCode::invalid_argument) throw;
      return brute;  // triangle cannot take this problem
    }
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

  // The planner sees shapes only; the data may still ask for differences instead of products.
  Plan plan_for(const cpu::PreparedRows<T>& queries, std::int64_t k) const {
    Plan plan = plan_for(queries.view.rows, k);
    if (!plan.expanded) return plan;
    if (!has_norms_) return with_differences(plan, "norms for products do not fit the budget");
    if (options_.distance == "gemm" || cpu::expansion_is_sharp(prepared_, queries)) return plan;
    return with_differences(plan,
                            "points lie closer together than products can resolve at their distance from the origin");
  }

  Plan with_differences(Plan plan, const char* reason) const {
    if (plan.distance == "gemm") {
      Options tiled = options_;
      tiled.distance = "register-tiled";
      try {
        plan = plan::plan_cpu(plan.problem, tiled, machine_);
      } catch (const Error&) {
        if (has_norms_) return plan;  // slower, and as exact
        throw;
      }
    }
    plan.expanded = false;
    plan.reason = reason;
    return plan;
  }

  MatrixView<T> base_;
  Options options_;
  plan::CpuFacts machine_;
  bool has_norms_ = false;
  cpu::PreparedRows<T> prepared_;
  mutable std::mutex clusters_mutex_;
  mutable std::unique_ptr<cpu::TriangleBase<T>> clusters_;  // of method triangle
  mutable cpu::CachedOrders<T> curve_;                      // of method shifted-sort
  DeviceFacts device_facts_;                                // as they were before the base took its part
  std::unique_ptr<DeviceIndex<T>> device_;
};

}  // namespace kith::api
