// cpu_tree.cpp: method tree on the CPU.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/sizes.hpp"
#include "kith/error.hpp"
#include "plan/cpu_costs.hpp"
#include "plan/cpu_plans.hpp"
#include "plan/cpu_threads.hpp"

namespace kith::plan {
namespace {

// Queries that are put in order at a time: enough that those of a leaf follow each other.
constexpr std::int64_t kLargestTreeBatch = std::int64_t{1} << 22;

void fit_tree(Plan& plan) {
  const auto fits = [&] {
    plan.workspace_bytes = core::tree_bytes(plan);
    return plan.workspace_bytes <= plan.budget_bytes;
  };
  while (!fits()) {
    if (plan.query_block > 1) {
      plan.query_block = (plan.query_block + 1) / 2;
    } else if (plan.threads > 1) {
      halve_threads(plan);
    } else {
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("a memory budget of {} bytes is too small for method tree: the boxes of {} points of {} "
                              "dimensions and a query need at least {} bytes",
                              plan.budget_bytes, plan.problem.base_rows, plan.problem.dims, plan.workspace_bytes));
    }
  }
}

}  // namespace

Plan plan_cpu_tree(const Problem& problem, const Options& options, const core::CpuFacts& facts, double dimensions,
                   bool has_tree) {
  constexpr std::int64_t kMostPoints = std::numeric_limits<std::uint32_t>::max();
  if (problem.base_rows > kMostPoints)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} base points; method tree takes at most {}", problem.base_rows, kMostPoints));
  Plan plan = begin_cpu_plan(problem, options, facts);
  set_threads(plan, options, facts, tree_seconds(problem, options.metric, dimensions, facts, 1, has_tree));
  plan.method = Method::tree;
  plan.period = options.period;
  plan.statistics = options.statistics;
  if (problem.k > 0) set_limits(plan, {options.max_distance, options.epsilon});
  plan.distance = DistanceStage::direct;
  plan.select = problem.k > 0 ? SelectMethod::threshold_filter : SelectMethod::radius;
  plan.query_block = std::min(problem.queries, kLargestTreeBatch);
  plan.base_tile = problem.base_rows;
  plan.candidates = core::tree_candidates(problem.k, problem.base_rows);
  fit_tree(plan);
  plan.seconds = tree_seconds(problem, options.metric, dimensions, facts, plan.threads, has_tree);
  plan.reason = "method tree asked for by name";
  return plan;
}

}  // namespace kith::plan
