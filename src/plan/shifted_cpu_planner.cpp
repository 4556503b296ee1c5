#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/curve.hpp"
#include "kith/error.hpp"
#include "plan/shifted_planner.hpp"

namespace kith::plan {

Plan plan_cpu_shifted(const Problem& problem, const Options& options, const core::CpuFacts& facts) {
  constexpr std::int64_t kMostPoints = std::numeric_limits<std::int32_t>::max();
  if (options.shifted_sort.merge != "auto")
    throw Error(ErrorCode::invalid_argument,
                fmt::format("shifted_sort.merge = '{}' is for devices; backend cpu has one way to merge",
                            options.shifted_sort.merge));
  if (options.shifted_sort.places == "sort")
    throw Error(ErrorCode::invalid_argument,
                "shifted_sort.places = 'sort' is for devices; backend cpu finds places by search");
  if (problem.base_rows > kMostPoints)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} base points; method shifted-sort takes at most {}", problem.base_rows, kMostPoints));
  Plan plan = shifted_plan(problem, options, Backend::cpu, false);
  plan.shifted_sort.merge = "auto";
  plan.threads = options.threads > 0 ? options.threads : facts.threads;
  plan.budget_bytes = cpu_budget(options, facts);
  const std::int64_t code = 8 * core::code_shape(static_cast<int>(problem.dims)).words;
  const std::int64_t point = problem.dims * (problem.dtype == DType::float64 ? 8 : 4);
  // Orders: codes, ids and points; two more codes and ids while a thread sorts; lists and candidates of a thread.
  const std::int64_t orders = plan.shifted_sort.shifts * problem.base_rows * (code + 4 + point);
  const std::int64_t sorting = std::min(plan.threads, plan.shifted_sort.shifts) * problem.base_rows * (code + 4);
  const std::int64_t lists = plan.threads * (problem.k + 2 * plan.shifted_sort.window) * 40;
  const std::int64_t query = 2 * (code + 4);
  fit_batch(plan, orders + sorting + lists, query);
  plan.workspace_bytes = orders + sorting + lists + plan.query_block * query;
  plan.seconds = shifted_seconds(plan, 6e-8, 8e-9) / plan.threads;
  return plan;
}

}  // namespace kith::plan
