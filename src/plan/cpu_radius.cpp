// cpu_radius.cpp: radius searches on the CPU.
#include <fmt/format.h>

#include <algorithm>

#include "core/sizes.hpp"
#include "kith/error.hpp"
#include "plan/cpu_costs.hpp"
#include "plan/cpu_plans.hpp"
#include "plan/cpu_threads.hpp"
#include "plan/products.hpp"

namespace kith::plan {
namespace {

constexpr std::int64_t kRadiusTileBytes = 1 << 18;  // rows of a tile stay in a core's own cache
constexpr std::int64_t kRadiusPartRows = 1024;      // a part of the base worth starting a thread for

std::int64_t parts_of(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

// Bytes of everything but the result.
std::int64_t radius_workspace(const Plan& plan, bool norms, const core::CpuFacts& facts) {
  const Problem& problem = plan.problem;
  const std::int64_t element = core::element_bytes(problem);
  const std::int64_t tile = parts_of(plan.base_tile, core::kSlack) * core::kSlack;
  const std::int64_t block = plan.query_block;
  // Queries in working precision and in double, rows of a tile, scores, norms.
  std::int64_t per_thread = block * problem.dims * (element + 8) + tile * (problem.dims + 1) * element;
  per_thread += block * (tile + 2) * element;
  if (plan.distance == DistanceStage::register_tiled) {
    const std::int64_t rows = element == 8 ? facts.block_rows_double : facts.block_rows;
    per_thread += tile * problem.dims * element +
                  block * parts_of(tile, rows) * static_cast<std::int64_t>(sizeof(core::BlockHit));
  }
  per_thread += plan.candidates * (2 * element + 16);
  std::int64_t shared = problem.queries * plan.base_splits * 40;  // the lists that hits are appended to
  if (norms) shared += (problem.base_rows + problem.queries) * (plan.metric.kind == MetricKind::correlation ? 16 : 8);
  return per_thread * plan.threads + shared;
}

void spread_blocks(Plan& plan, std::int64_t largest_block) {
  const Problem& problem = plan.problem;
  const std::int64_t blocks = std::max<std::int64_t>(parts_of(problem.queries, largest_block),
                                                     std::min<std::int64_t>(plan.threads, problem.queries / 16));
  plan.query_block = parts_of(problem.queries, std::max<std::int64_t>(blocks, 1));
  const std::int64_t splits = parts_of(plan.threads, parts_of(problem.queries, plan.query_block));
  plan.base_splits = std::max<std::int64_t>(std::min(splits, parts_of(problem.base_rows, kRadiusPartRows)), 1);
}

void fit_radius(Plan& plan, bool norms, const core::CpuFacts& facts) {
  const std::int64_t element = core::element_bytes(plan.problem);
  const std::int64_t rows = kRadiusTileBytes / (plan.problem.dims * element) / core::kSlack * core::kSlack;
  for (std::int64_t tile = std::clamp<std::int64_t>(rows, core::kSlack, 1024);; tile /= 2) {
    plan.base_tile = std::min(std::max(tile, core::kSlack), plan.problem.base_rows);
    plan.candidates = parts_of(plan.base_tile, core::kSlack) * core::kSlack + 2 * core::kSlack;
    for (std::int64_t block = kRadiusBlock; block >= 1; block /= 2) {
      spread_blocks(plan, block);
      plan.workspace_bytes = radius_workspace(plan, norms, facts);
      if (plan.workspace_bytes <= plan.budget_bytes) return;
    }
    if (tile > core::kSlack) continue;
    if (plan.threads == 1) break;
    halve_threads(plan);
  }
  throw Error(ErrorCode::out_of_memory,
              fmt::format("a memory budget of {} bytes is too small: a radius search over {} points of {} dimensions "
                          "needs at least {} bytes",
                          plan.budget_bytes, plan.problem.base_rows, plan.problem.dims, plan.workspace_bytes));
}

}  // namespace

Plan plan_cpu_radius(const Problem& problem, const Options& options, const core::CpuFacts& facts, bool norms) {
  const core::Form form = core::form_of(options.metric);
  const bool forced = options.distance != DistanceStage::automatic;
  const auto seconds = [&](DistanceStage stage) { return radius_seconds(stage, problem, 1, facts); };
  Plan plan = begin_cpu_plan(problem, options, facts);
  set_threads(plan, options, facts,
              forced ? seconds(options.distance)
                     : std::min(seconds(DistanceStage::direct), seconds(DistanceStage::register_tiled)));
  plan.method = Method::brute;
  plan.select = SelectMethod::radius;

  const auto alternative = [&](DistanceStage stage) {
    return Plan::Alternative{stage, radius_seconds(stage, problem, plan.threads, facts)};
  };
  const Plan::Alternative direct = alternative(DistanceStage::direct);
  const Plan::Alternative tiled = alternative(DistanceStage::register_tiled);
  const bool use_direct = forced ? options.distance == DistanceStage::direct : direct.seconds < tiled.seconds;
  plan.distance = use_direct ? direct.distance : tiled.distance;
  plan.seconds = use_direct ? direct.seconds : tiled.seconds;
  plan.alternatives = {use_direct ? tiled : direct};
  plan.expanded = norms && !use_direct && form == core::Form::squared && problem.dims >= kExpandFrom;
  plan.reason = forced       ? fmt::format("distance stage {} asked for by name", to_string(plan.distance))
                : use_direct ? "few queries: rows are read once, as they lie"
                             : "sums kept in registers; keys decide what lies near the radius";
  // Counted whether they are there or not, so that a budget that is enough stays enough.
  fit_radius(plan, can_multiply(form), facts);
  return plan;
}

}  // namespace kith::plan
