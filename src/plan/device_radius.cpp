// device_radius.cpp: radius searches on a device.
#include <fmt/format.h>

#include <algorithm>

#include "core/sizes.hpp"
#include "kith/error.hpp"
#include "plan/device_costs.hpp"
#include "plan/device_plans.hpp"
#include "plan/products.hpp"

namespace kith::plan {
namespace {

// Of a pair in the list: its query and point, its key, and twice (key, point, query) to be sorted, with a byte for the
// sort itself.
std::int64_t listed_bytes(const Problem& problem) {
  const std::int64_t element = core::element_bytes(problem);
  return 8 + element + 2 * (element + 8) + 1;
}

// Of a query: its limit and its count.
std::int64_t limit_bytes(const Problem& problem) {
  return core::element_bytes(problem) + 4;
}

DistanceStage radius_stage(const Problem& problem, const Options& options, const core::DeviceFacts& facts) {
  const bool may_round = may_use_fp16(problem, options, facts.policy);
  const bool has_pass = facts.policy.hardware.has_wgmma();  // only its pass lists pairs
  if (options.distance != DistanceStage::fp16)
    return may_round && has_pass ? DistanceStage::fp16 : DistanceStage::register_tiled;
  if (!may_round) refuse_stage(problem, options, facts.policy.hardware);
  if (!has_pass)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("distance stage fp16 of a radius search needs compute capability 9; the device has {}.{}",
                            facts.policy.hardware.compute_major, facts.policy.hardware.compute_minor));
  return DistanceStage::fp16;
}

}  // namespace

Plan plan_device_radius(const Problem& problem, const Options& options, const core::DeviceFacts& facts) {
  const core::Form form = core::form_of(options.metric);
  Plan plan = begin_device_plan(problem, options, facts);
  plan.method = Method::brute;
  plan.distance = radius_stage(problem, options, facts);
  plan.forced = options.distance != DistanceStage::automatic;
  plan.select = SelectMethod::radius;
  plan.expanded = form == core::Form::squared && (plan.distance == DistanceStage::fp16 || problem.dims >= kExpandFrom);
  plan.workspace_bytes = plan.budget_bytes / 2;
  plan.base_tile = points_at_once(problem, options, facts);
  plan.seconds = radius_seconds(facts, problem, form, plan.distance);
  plan.reason = "no score need be stored; keys decide what lies near the radius";

  constexpr std::int64_t kCounter = 8;
  const std::int64_t usable = plan.workspace_bytes - plan.workspace_bytes / 8 - kCounter;  // the rest: turned points
  const std::int64_t pair = listed_bytes(problem);
  const std::int64_t query = limit_bytes(problem);
  // Queries may have a quarter of the memory for themselves.
  plan.query_block =
      std::clamp<std::int64_t>(usable / 4 / query, 1, std::min(problem.queries, facts.policy.radius_queries));
  const std::int64_t list = std::min((usable - plan.query_block * query) / pair, facts.policy.radius_pairs);
  plan.candidates = std::min(list / plan.query_block, problem.base_rows);
  if (plan.candidates < 1) {
    plan.query_block = std::max<std::int64_t>(1, usable / (query + pair));
    plan.candidates = 1;
  }
  if (plan.query_block * (query + pair) > usable)
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("a memory budget of {} bytes is too small: a radius search over {} points of {} dimensions "
                    "needs at least {} bytes beside the points",
                    plan.budget_bytes, problem.base_rows, problem.dims, (query + pair + kCounter) * 16 / 7 + 2));
  return plan;
}

}  // namespace kith::plan
