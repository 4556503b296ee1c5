#include "plan/device_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/sample_plan.hpp"
#include "core/score_bounds.hpp"
#include "core/sizes.hpp"
#include "kith/error.hpp"
#include "plan/device_costs.hpp"
#include "plan/device_triangle.hpp"
#include "plan/products.hpp"
#include "plan/shifted_planner.hpp"

namespace kith::plan {
namespace {

// Below, neighbors lie so close together, beside their distance from the center, that fp16 should seldom tell them
// apart; where that begins is a guess.
constexpr std::int64_t kFp16Dims = 12;
constexpr std::int64_t kFp16Queries = 32;  // with fewer, others read the points only once too

// Tiles of scores larger than this make nothing faster.
constexpr std::int64_t kLargestTileBytes = std::int64_t{4} << 30;

FusedWish fused_wish(const Problem& problem, const Options& options) {
  if (options.method == Method::fused) return FusedWish::yes;
  // A sample of fewer points is most of them.
  constexpr std::int64_t kFusedFrom = 4096;
  return options.method == Method::automatic && problem.base_rows >= kFusedFrom ? FusedWish::either : FusedWish::no;
}

bool can_round_to_fp16(const Problem& problem, core::Form form) {
  return can_multiply(form) && problem.dtype != DType::float64;
}

// Whether searches of this base may want its fp16, however many queries they have. Sums of small integers are exact
// in single precision, which no bound on fp16 can match.
bool may_use_fp16(const Problem& problem, const Options& options) {
  const core::Form form = core::form_of(options.metric);
  if (!can_round_to_fp16(problem, form)) return false;
  if (options.distance != "auto") return options.distance == "fp16";
  const bool integers = problem.dtype == DType::uint8 || problem.dtype == DType::int8;
  const core::ScoreBounds<float> bounds(options.metric, problem.dims, form == core::Form::squared, integers ? 255 : 0);
  return problem.dims >= kFp16Dims && !bounds.is_exact();
}

bool is_ranked(const std::string& stage, const Problem& problem, const Options& options, core::Form form) {
  if (stage == "gemm") return can_multiply(form);
  if (stage != "fp16") return true;
  return may_use_fp16(problem, options) && (options.distance == "fp16" || problem.queries >= kFp16Queries);
}

struct RankedStage {
  std::string name;
  DeviceStageCost cost;
};

// The fastest first.
std::vector<RankedStage> rank_stages(const core::DeviceProfile& costs, const Problem& problem, const Options& options,
                                     std::int64_t candidates) {
  const core::Form form = core::form_of(options.metric);
  const FusedWish wish = fused_wish(problem, options);
  std::vector<RankedStage> stages;
  for (const char* stage : {"exact", "direct", "tiled", "register-tiled", "gemm", "fp16"})
    if (is_ranked(stage, problem, options, form) && (wish != FusedWish::yes || can_fuse(stage)))
      stages.push_back({stage, stage_cost(costs, stage, problem, form, candidates, wish)});
  std::stable_sort(stages.begin(), stages.end(),
                   [](const auto& a, const auto& b) { return a.cost.seconds < b.cost.seconds; });
  return stages;
}

// A pair's share of the tile: its score, and what a selection keeps beside the scores at first.
std::int64_t pair_bytes(const Problem& problem) {
  return 2 * core::element_bytes(problem);
}

// Of a query, for its scores: a row of the matrix, or a sample of them and what passes its limit.
std::int64_t score_bytes(const Plan& plan) {
  if (plan.method != Method::fused) return plan.base_tile * pair_bytes(plan.problem);
  const core::SamplePlan sample = core::plan_sample(plan.base_tile, plan.candidates);
  return sample.samples * pair_bytes(plan.problem) + sample.capacity * (pair_bytes(plan.problem) + 4);
}

// Of a query beside its scores: candidates, their keys and ids, joined with the list it has.
std::int64_t query_bytes(const Plan& plan) {
  const std::int64_t element = core::element_bytes(plan.problem);
  return plan.candidates * (3 * element + 24) + plan.problem.k * (3 * element + 24) + 64;
}

// Of a base point on the device: its coordinates, under cosine and correlation once more as a direction, and its facts;
// the same in fp16.
double point_bytes(const Problem& problem, const Options& options) {
  const bool directions = core::has_directions(options.metric);
  const std::int64_t padded_dims = (problem.dims + 7) / 8 * 8;
  const std::int64_t fp16 = may_use_fp16(problem, options) ? 2 * padded_dims + 28 : 0;
  return static_cast<double>(problem.dims * core::element_bytes(problem) * (directions ? 2 : 1) + 24 + fp16);
}

// `n`: points that are on the device at a time.
void fit(Plan& plan, std::int64_t n) {
  plan.base_tile = n;
  plan.query_block = plan.problem.queries;
  const auto bytes = [&] { return plan.query_block * (score_bytes(plan) + query_bytes(plan)); };
  const std::int64_t usable = plan.workspace_bytes - plan.workspace_bytes / 8;  // the rest is for turned points
  const std::int64_t room = std::min(usable, kLargestTileBytes);
  while (bytes() > room && plan.query_block > 1024) plan.query_block = (plan.query_block + 1) / 2;
  const std::int64_t least_tile = std::min(n, std::max<std::int64_t>(4 * plan.candidates, 65536));
  while (bytes() > room && plan.base_tile > least_tile) plan.base_tile = std::max(least_tile, (plan.base_tile + 1) / 2);
  while (bytes() > room && plan.query_block > 1) plan.query_block = (plan.query_block + 1) / 2;
  while (bytes() > usable && plan.base_tile > 1) plan.base_tile = (plan.base_tile + 1) / 2;
  if (bytes() > usable)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("a memory budget of {} bytes is too small: k = {} of {} points needs at least {} bytes "
                            "beside the points",
                            plan.budget_bytes, plan.problem.k, plan.problem.base_rows, bytes()));
}

[[noreturn]] void refuse_stage(const Problem& problem, const Options& options) {
  if (options.method == Method::fused && !can_fuse(options.distance))
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("method fused has distance stage register-tiled or half; {} was asked for", options.distance));
  if (can_multiply(core::form_of(options.metric)))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("distance stage {} rounds to half precision; {} has no use of it", options.distance,
                            to_string(problem.dtype)));
  throw Error(ErrorCode::invalid_argument, fmt::format("distance stage {} cannot compute {}: it is no matrix product",
                                                       options.distance, to_string(options.metric)));
}

std::string device_reason(const Plan& plan, bool forced) {
  if (forced) return "distance stage " + plan.distance + " asked for by name";
  if (plan.method == Method::fused)
    return plan.distance == "fp16" ? "enough points and queries that products of fp16 need not be stored"
                                   : "enough points and queries that no score need be stored";
  if (plan.distance == "exact") return "so few queries that exact distances cost no more than reading the points";
  if (plan.distance == "direct") return "few queries: the base is read once, as it lies";
  if (plan.distance == "tiled") return "too few queries to fill tiles of registers";
  if (plan.distance == "fp16") return "enough dimensions for a matrix product of fp16; keys decide what it finds";
  if (plan.distance == "gemm") return "enough dimensions for a matrix product; keys decide what it finds";
  return can_multiply(core::form_of(plan.metric))
             ? "sums in registers cost less than a matrix product of few dimensions"
             : "the metric is no matrix product";
}

}  // namespace

std::int64_t device_budget(const Options& options, const core::DeviceFacts& facts) {
  return options.memory_budget > 0 ? options.memory_budget : facts.free_memory / 2;
}

bool is_resident(const Problem& problem, const Options& options, const core::DeviceFacts& facts) {
  const double bytes = static_cast<double>(problem.base_rows) * point_bytes(problem, options);
  return bytes <= static_cast<double>(device_budget(options, facts)) / 2;
}

std::int64_t points_at_once(const Problem& problem, const Options& options, const core::DeviceFacts& facts) {
  if (is_resident(problem, options, facts)) return problem.base_rows;
  const double slot = static_cast<double>(device_budget(options, facts)) / 4 / point_bytes(problem, options);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(slot), 1, problem.base_rows);
}

void check_base_rows(const Problem& problem) {
  if (problem.base_rows > core::kLongestDeviceRow)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} base points; a device takes at most {}", problem.base_rows, core::kLongestDeviceRow));
}

Plan plan_device(const Problem& problem, const Options& options, Backend backend, const core::DeviceFacts& facts) {
  check_base_rows(problem);
  if (options.method == Method::shifted_sort) return plan_device_shifted(problem, options, backend, facts);
  Plan plan;
  plan.problem = problem;
  plan.metric = options.metric;
  plan.backend = backend;
  plan.method = Method::two_stage;
  plan.select = options.select;
  plan.profile = facts.profile_source;
  plan.budget_bytes = device_budget(options, facts);
  if (options.method == Method::triangle) {
    plan_device_triangle(plan, options, facts, point_bytes(problem, options), is_resident(problem, options, facts));
    return plan;
  }
  plan.workspace_bytes = plan.budget_bytes / 2;
  plan.candidates = std::min(problem.base_rows, problem.k + std::max<std::int64_t>(6, problem.k / 4));

  std::vector<RankedStage> stages = rank_stages(facts.profile, problem, options, plan.candidates);
  const bool forced = options.distance != "auto";
  const auto chosen = forced ? std::find_if(stages.begin(), stages.end(),
                                            [&](const auto& stage) { return stage.name == options.distance; })
                             : stages.begin();
  if (chosen == stages.end()) refuse_stage(problem, options);
  plan.distance = chosen->name;
  plan.forced = forced;
  plan.seconds = chosen->cost.seconds;
  if (chosen->cost.fused) plan.method = Method::fused;
  const bool products = plan.distance == "gemm" || plan.distance == "fp16";
  plan.expanded = core::form_of(options.metric) == core::Form::squared &&
                  (products || (plan.distance == "register-tiled" && problem.dims >= kExpandFromOnDevice));
  stages.erase(chosen);
  for (const RankedStage& stage : stages)
    plan.alternatives.push_back({stage.name, stage.cost.seconds, stage.cost.fused ? Method::fused : Method::two_stage});
  fit(plan, points_at_once(problem, options, facts));
  plan.reason = device_reason(plan, forced);
  return plan;
}

}  // namespace kith::plan
