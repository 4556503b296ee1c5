// cpu_triangle.cpp: method triangle on the CPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/sizes.hpp"
#include "kith/error.hpp"
#include "plan/cpu_costs.hpp"
#include "plan/cpu_plans.hpp"
#include "plan/cpu_threads.hpp"

namespace kith::plan {
namespace {

// Chen et al. have 3 √n. Here a distance to a center costs as much as one to a point, and 2 √n was faster.
constexpr double kLandmarksPerRoot = 2;
constexpr std::int64_t kFewestQueries = 256;
constexpr std::int64_t kFewestCpuLandmarks = 16;

std::int64_t cpu_landmarks(std::int64_t asked, std::int64_t rows) {
  if (asked > 0) return std::min(asked, rows);
  const auto usual = static_cast<std::int64_t>(std::ceil(kLandmarksPerRoot * std::sqrt(static_cast<double>(rows))));
  return std::clamp<std::int64_t>(usual, 1, rows);
}

// Halves what may be smaller until it fits: queries at a time, then landmarks that nobody asked for, then threads.
void fit_triangle(Plan& plan, const TriangleTuning& asked) {
  const auto update = [&] {
    plan.triangle.query_landmarks = std::min(cpu_landmarks(asked.query_landmarks, plan.query_block), plan.query_block);
    plan.workspace_bytes = core::triangle_bytes(plan);
    return plan.workspace_bytes <= plan.budget_bytes;
  };
  while (!update()) {
    const bool few_queries = plan.query_block <= kFewestQueries;
    if (few_queries && asked.base_landmarks == 0 && plan.triangle.base_landmarks > kFewestCpuLandmarks) {
      plan.triangle.base_landmarks /= 2;
    } else if (few_queries && plan.threads > 1) {
      halve_threads(plan);
    } else if (plan.query_block > 1) {
      plan.query_block = (plan.query_block + 1) / 2;
    } else {
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("a memory budget of {} bytes is too small for method triangle: the clusters of {} points "
                              "of {} dimensions and a query need at least {} bytes",
                              plan.budget_bytes, plan.problem.base_rows, plan.problem.dims, plan.workspace_bytes));
    }
  }
}

}  // namespace

Plan plan_cpu_triangle(const Problem& problem, const Options& options, const core::CpuFacts& facts,
                       const core::SurvivingFractions& survivors, bool clustered) {
  constexpr std::int64_t kMostPoints = std::numeric_limits<std::uint32_t>::max();
  if (problem.base_rows > kMostPoints)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} base points; method triangle takes at most {}", problem.base_rows, kMostPoints));
  TriangleTuning tuning = options.triangle;
  tuning.form = TriangleForm::interval_scan;
  tuning.base_landmarks = cpu_landmarks(options.triangle.base_landmarks, problem.base_rows);
  tuning.query_landmarks = cpu_landmarks(options.triangle.query_landmarks, problem.queries);
  Plan plan = begin_cpu_plan(problem, options, facts);
  set_threads(plan, options, facts, triangle_seconds(problem, options.metric, tuning, survivors, facts, 1, clustered));
  plan.method = Method::triangle;
  plan.distance = DistanceStage::direct;
  plan.select = SelectMethod::threshold_filter;
  plan.statistics = options.statistics;
  plan.triangle = tuning;
  plan.query_block = problem.queries;
  plan.base_tile = problem.base_rows;
  plan.candidates = problem.k;
  fit_triangle(plan, options.triangle);
  plan.seconds = triangle_seconds(problem, options.metric, plan.triangle, survivors, facts, plan.threads, clustered);
  plan.reason = "method triangle asked for by name";
  return plan;
}

}  // namespace kith::plan
