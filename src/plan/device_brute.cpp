// device_brute.cpp: all distances on a device: the fastest stage, what follows where its scores prove too little, and
// the largest tiles that fit the budget.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/sample_plan.hpp"
#include "core/score_bounds.hpp"
#include "core/sizes.hpp"
#include "core/tensor_tiles.hpp"
#include "kith/error.hpp"
#include "plan/device_costs.hpp"
#include "plan/device_plans.hpp"
#include "plan/product_stages.hpp"
#include "plan/products.hpp"

namespace kith::plan {
namespace {

FusedWish fused_wish(const Problem& problem, const Options& options, const core::DevicePolicy& policy) {
  if (options.method == Method::fused) return FusedWish::yes;
  // Products of bytes are tested as they are computed, and never stored.
  if (options.distance == DistanceStage::int8 && options.method != Method::two_stage) return FusedWish::yes;
  // A sample of fewer points is most of them.
  const bool may_pay = problem.base_rows >= policy.fused_min_points;
  return options.method == Method::automatic && may_pay ? FusedWish::either : FusedWish::no;
}

bool rounds(DistanceStage stage) {
  return stage == DistanceStage::fp16 || stage == DistanceStage::split_fp16;
}

std::int64_t device_budget(const Options& options, const core::DeviceFacts& facts) {
  return options.memory_budget > 0 ? options.memory_budget : facts.free_memory / 2;
}

std::int64_t fp16_row_bytes(const Problem& problem) {
  return 2 * ((problem.dims + 7) / 8 * 8);
}

// A point in fp16, with its norms.
std::int64_t fp16_point_bytes(const Problem& problem) {
  return fp16_row_bytes(problem) + 44;
}

// Where it is not expected to pay, no base is streamed for want of memory for it.
bool has_room_for_fp16(const Problem& problem, const Options& options, const core::DeviceFacts& facts) {
  if (may_use_fp16(problem, options, facts.policy)) return true;
  const double bytes = point_bytes(problem, options, facts.policy) + static_cast<double>(fp16_point_bytes(problem));
  return static_cast<double>(problem.base_rows) * bytes <= static_cast<double>(device_budget(options, facts)) / 2;
}

// Whether a plan may begin with this stage.
bool is_ranked(DistanceStage stage, const Problem& problem, const Options& options, const IndexFacts& index,
               const core::DeviceFacts& facts, FusedWish wish) {
  if (!why_not(stage, problem, options.metric, facts.policy.hardware).empty()) return false;
  if (stage == DistanceStage::int8) return wish != FusedWish::no;  // its products are never stored
  if (stage == options.distance) return true;
  // What searches have shown of fp16 counts until they are timed: times say more.
  const bool untimed = index.timed.empty();
  const bool fails = untimed && index.fp16_fails && problem.queries >= kJudgedQueries;
  if (stage == DistanceStage::split_fp16)
    return wish != FusedWish::no && !(untimed && index.split_fp16_fails) && has_room_for_fp16(problem, options, facts);
  if (stage == DistanceStage::fp16) return has_room_for_fp16(problem, options, facts) && !fails;
  return true;
}

// A pass that is bounded by another has more candidates, and the host waits in between.
constexpr double kSecondPass = 2.6;
constexpr double kSecondStart = 1.5;

// Whether fp16 cannot tell neighbors of points that fill their few dimensions evenly from other candidates, so that
// most queries need a second pass. Of the squared radius of all points a ball of m of them has (m / n)^(2 / d), and
// rounding two factors moves a squared distance by 2⁻⁹ at most.
bool fp16_is_too_coarse(const Problem& problem, core::Form form, const core::DevicePolicy& policy,
                        std::int64_t candidates) {
  constexpr double kRounding = 1.0 / 512;
  if (form != core::Form::squared || problem.dims >= policy.fp16_min_dims || candidates >= problem.base_rows)
    return false;
  const auto square = [&](std::int64_t points) {
    return std::pow(static_cast<double>(points) / static_cast<double>(problem.base_rows),
                    2 / static_cast<double>(problem.dims));
  };
  return square(candidates) - square(problem.k) < kRounding;
}

// Whether the stage subtracts products that are nearly equal where points lie close together.
bool cancels(DistanceStage stage, const Problem& problem, core::Form form) {
  const bool integers = problem.dtype == DType::uint8 || problem.dtype == DType::int8;
  if (rounds(stage)) return true;
  return !integers && form == core::Form::squared &&
         (stage == DistanceStage::gemm || (stage == DistanceStage::register_tiled && problem.dims >= kExpandFrom));
}

// Whether most queries are expected to need a second pass after the first of this stage. Where searches have shown that
// fp16 need one, points are taken to be in tight clusters, which no product tells apart, until searches are timed.
bool takes_two_passes(DistanceStage stage, const Problem& problem, core::Form form, const IndexFacts& index,
                      const core::DevicePolicy& policy, std::int64_t candidates) {
  const bool seen = problem.queries < kJudgedQueries ? index.few_need_second_pass : index.many_need_second_pass;
  if (seen) return stage == DistanceStage::fp16 || (index.timed.empty() && cancels(stage, problem, form));
  return stage == DistanceStage::fp16 && fp16_is_too_coarse(problem, form, policy, candidates);
}

// What the stage takes with the second pass: the same bounded by the first, or differences where that is not to be had.
double two_pass_seconds(const core::DeviceFacts& facts, DistanceStage stage, const Problem& problem, core::Form form,
                        std::int64_t candidates, const DeviceStageCost& first) {
  if (first.fused && tests_products(stage, facts.policy.hardware))
    return kSecondPass * first.seconds + kSecondStart * facts.profile.start;
  return first.seconds + differences_seconds(facts, problem, form, candidates, first.fused);
}

// How much longer than predicted a plan that begins with this stage is likely to take, before it was tried.
double doubt(DistanceStage stage, const Problem& problem, core::Form form, const IndexFacts& index,
             const core::DevicePolicy& policy, std::int64_t candidates, FusedWish wish) {
  constexpr double kUnlikely = 1.35;
  constexpr double kVeryUnlikely = 2.2;
  const bool few_dims = problem.dims < policy.fp16_min_dims;
  // For those who fail fp16, and for points of few dimensions, which that seldom tells apart.
  if (stage == DistanceStage::split_fp16) return index.fp16_fails || few_dims ? 1 : kUnlikely;
  if (stage != DistanceStage::fp16) return 1;
  if (few_dims) return fp16_is_too_coarse(problem, form, policy, candidates) ? 1 : kVeryUnlikely;
  // With few queries other stages read the points only once too, unless it is a scan. Products of bytes have no error.
  const bool scanned = wish != FusedWish::no && scans(stage, problem, candidates, policy.hardware);
  const bool bytes = problem.dtype == DType::uint8 || problem.dtype == DType::int8;
  return bytes || (problem.queries < policy.fp16_min_queries && !scanned) ? kUnlikely : 1;
}

// Candidates beside k, so that the first score that is left out lies above the k-th distance by more than scores may be
// off. The more dimensions, the less distances differ.
std::int64_t spare_candidates(const Problem& problem) {
  constexpr std::int64_t kManyDims = 512;
  return std::max<std::int64_t>(problem.dims < kManyDims ? 6 : 16, problem.k / 4);
}

// Once some stages were timed, what was not is tried where it is predicted to take less than them over this:
// predictions are that uncertain, and what they cost when they are wrong is two searches.
constexpr double kUntried = 0.85;
// What a search does before and after what is timed, of the time that starting it takes.
constexpr double kNotTimed = 0.1;

struct RankedStage {
  DistanceStage stage;
  DeviceStageCost cost;
  double rank = 0;     // the least is chosen: the time, and what speaks for the stage and against it
  bool timed = false;  // the time is that of earlier searches
};

// Ways to follow a stage from which a plan chooses.
std::vector<FusedWish> wishes_of(DistanceStage stage, FusedWish wish) {
  const bool both = wish == FusedWish::either && stage != DistanceStage::split_fp16 && stage != DistanceStage::int8 &&
                    can_fuse(stage);
  return both ? std::vector<FusedWish>{FusedWish::no, FusedWish::yes} : std::vector<FusedWish>{wish};
}

Method method_of(const DeviceStageCost& cost) {
  return cost.fused ? Method::fused : Method::two_stage;
}

// The fastest first.
std::vector<RankedStage> rank_stages(const core::DeviceFacts& facts, const Problem& problem, const Options& options,
                                     const IndexFacts& index, std::int64_t candidates) {
  const core::Form form = core::form_of(options.metric);
  const FusedWish wish = fused_wish(problem, options, facts.policy);
  const auto cost_of = [&](DistanceStage stage, FusedWish how) {
    DeviceStageCost cost = stage_cost(facts, stage, problem, form, candidates, how);
    if (takes_two_passes(stage, problem, form, index, facts.policy, candidates))
      cost.seconds = two_pass_seconds(facts, stage, problem, form, candidates, cost);
    return cost;
  };
  std::vector<RankedStage> stages;
  for (const DistanceStage stage :
       {DistanceStage::exact, DistanceStage::direct, DistanceStage::tiled, DistanceStage::register_tiled,
        DistanceStage::gemm, DistanceStage::fp16, DistanceStage::split_fp16, DistanceStage::int8})
    if (is_ranked(stage, problem, options, index, facts, wish) && (wish != FusedWish::yes || can_fuse(stage)))
      for (const FusedWish how : wishes_of(stage, wish)) stages.push_back({stage, cost_of(stage, how)});
  if (index.serves_once || !index.resident)
    for (RankedStage& one : stages)
      if (rounds(one.stage)) one.cost.seconds += fp16_seconds(facts.profile, problem);
  for (RankedStage& one : stages) {
    const TimedStage* const timed = find_timed(index, method_of(one.cost), one.stage);
    one.timed = timed != nullptr;
    if (one.timed) one.cost.seconds = timed->seconds;
    one.rank = one.cost.seconds;
    if (one.timed) continue;
    one.rank = index.timed.empty() ? one.rank * doubt(one.stage, problem, form, index, facts.policy, candidates, wish)
                                   : (one.rank - kNotTimed * facts.profile.start) * kUntried;
  }
  std::stable_sort(stages.begin(), stages.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return stages;
}

// A pair's share of the tile: its score, and what a selection keeps beside the scores at first.
std::int64_t pair_bytes(const Problem& problem) {
  return 2 * core::element_bytes(problem);
}

// Of a query, for its scores: a row of the matrix, or a sample of them and what passes its limit.
std::int64_t score_bytes(const Plan& plan, const core::DevicePolicy& policy) {
  if (plan.method != Method::fused) return plan.base_tile * pair_bytes(plan.problem);
  const std::int64_t scanned =
      scans(plan.distance, plan.problem, plan.candidates, policy.hardware)
          ? scan_plan(plan.distance, plan.problem, policy.hardware).blocks * plan.candidates * 8
          : 0;
  if (tests_products(plan.distance, policy.hardware)) {
    const core::SamplePlan sample = core::plan_grouped_sample(plan.base_tile, plan.candidates, plan.problem.dims);
    const std::int64_t parts =
        core::sample_parts(plan.query_block, sample.samples, sample.rank, policy.hardware.multiprocessors);
    return std::max(scanned, parts * core::kTensorTilePoints * pair_bytes(plan.problem) + sample.capacity * 8);
  }
  const core::SamplePlan sample = core::plan_sample(plan.base_tile, plan.candidates);
  return std::max(scanned,
                  sample.samples * pair_bytes(plan.problem) + sample.capacity * (pair_bytes(plan.problem) + 4));
}

// Of a query beside its scores: candidates, their keys and ids, joined with the list it has.
std::int64_t query_bytes(const Plan& plan) {
  const std::int64_t element = core::element_bytes(plan.problem);
  return plan.candidates * (3 * element + 24) + plan.problem.k * (3 * element + 24) + 64;
}

// Bytes of a budget that scores and lists may take: half is for points, and some for turned points.
std::int64_t usable_bytes(std::int64_t budget) {
  const std::int64_t workspace = budget / 2;
  return workspace - workspace / 8;
}

// The smallest budget of which so many bytes are usable.
std::int64_t least_budget(std::int64_t usable) {
  std::int64_t budget = usable / 7 * 16;
  while (usable_bytes(budget) < usable) ++budget;
  return budget;
}

// `n`: points that are on the device at a time.
void fit(Plan& plan, std::int64_t n, const core::DevicePolicy& policy) {
  plan.base_tile = n;
  plan.query_block = plan.problem.queries;
  constexpr std::int64_t kGaps = 8 * 256;  // arrays begin at multiples of 256 bytes
  const auto bytes = [&] { return plan.query_block * (score_bytes(plan, policy) + query_bytes(plan)) + kGaps; };
  const std::int64_t usable = usable_bytes(plan.budget_bytes);
  // All queries at once, if there is room: each pair is then multiplied once.
  const bool both_points = plan.problem.self && plan.method == Method::fused && plan.distance == DistanceStage::fp16 &&
                           tests_products(plan.distance, policy.hardware) &&
                           core::tests_both_points(n, 2 * plan.problem.dims) && bytes() <= usable;
  const std::int64_t room = both_points ? usable : std::min(usable, policy.score_bytes);
  while (bytes() > room && plan.query_block > 1024) plan.query_block = (plan.query_block + 1) / 2;
  const std::int64_t least_tile = std::min(n, std::max<std::int64_t>(4 * plan.candidates, 65536));
  while (bytes() > room && plan.base_tile > least_tile) plan.base_tile = std::max(least_tile, (plan.base_tile + 1) / 2);
  while (bytes() > room && plan.query_block > 1) plan.query_block = (plan.query_block + 1) / 2;
  while (bytes() > usable && plan.base_tile > 1) plan.base_tile = (plan.base_tile + 1) / 2;
  if (bytes() > usable)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("a memory budget of {} bytes is too small: k = {} of {} points needs at least {} bytes",
                            plan.budget_bytes, plan.problem.k, plan.problem.base_rows, least_budget(bytes())));
}

std::string device_reason(const Plan& plan, bool forced, const core::DeviceHardware& hardware) {
  if (forced) return fmt::format("distance stage {} asked for by name", to_string(plan.distance));
  if (plan.distance == DistanceStage::int8) return "products of 8-bit integers have no error";
  if (plan.method == Method::fused && scans(plan.distance, plan.problem, plan.candidates, hardware))
    return "so few queries that reading the points in fp16 is most of the work";
  if (plan.method == Method::fused)
    return plan.distance == DistanceStage::fp16 ? "enough points and queries that products of fp16 need not be stored"
                                                : "enough points and queries that no score need be stored";
  if (plan.distance == DistanceStage::exact)
    return "so few queries that exact distances cost no more than reading the points";
  if (plan.distance == DistanceStage::direct) return "few queries: the base is read once, as it lies";
  if (plan.distance == DistanceStage::tiled) return "too few queries to fill tiles of registers";
  if (plan.distance == DistanceStage::fp16)
    return "enough dimensions for a matrix product of fp16; keys decide what it finds";
  if (plan.distance == DistanceStage::gemm) return "enough dimensions for a matrix product; keys decide what it finds";
  return can_multiply(core::form_of(plan.metric))
             ? "sums in registers cost less than a matrix product of few dimensions"
             : "the metric is no matrix product";
}

bool is_listed(const Plan& plan, DistanceStage stage) {
  return std::any_of(plan.alternatives.begin(), plan.alternatives.end(),
                     [&](const Plan::Alternative& other) { return other.distance == stage; });
}

double predicted_seconds(const Plan& plan, DistanceStage stage) {
  if (plan.distance == stage) return plan.seconds;
  for (const Plan::Alternative& other : plan.alternatives)
    if (other.distance == stage) return other.seconds;
  return std::numeric_limits<double>::infinity();
}

// Whether scores of unrounded points need not be stored, when those of fp16, which are not, did not do.
bool fuses_unrounded(const Plan& plan) {
  if (plan.method != Method::fused) return false;
  const auto found = std::find_if(plan.alternatives.begin(), plan.alternatives.end(),
                                  [](const auto& other) { return other.distance == DistanceStage::register_tiled; });
  return found == plan.alternatives.end() || found->method != Method::two_stage;
}

}  // namespace

// Sums of small integers are exact in single precision, which no bound on fp16 can match. In few dimensions neighbors
// lie so close together, beside their distance from the center, that fp16 seldom tells them apart.
bool may_use_fp16(const Problem& problem, const Options& options, const core::DevicePolicy& policy) {
  const core::Form form = core::form_of(options.metric);
  if (!why_not(DistanceStage::fp16, problem, options.metric, policy.hardware).empty()) return false;
  if (options.distance != DistanceStage::automatic) return options.distance == DistanceStage::fp16;
  const bool integers = problem.dtype == DType::uint8 || problem.dtype == DType::int8;
  const core::ScoreBounds<float> bounds(options.metric, problem.dims, form == core::Form::squared, integers ? 255 : 0);
  return problem.dims >= policy.fp16_min_dims && !bounds.is_exact();
}

void refuse_stage(const Problem& problem, const Options& options, const core::DeviceHardware& hardware) {
  const std::string reason = why_not(options.distance, problem, options.metric, hardware);
  if (!reason.empty()) throw Error(ErrorCode::invalid_argument, reason);
  if (options.method == Method::fused && !can_fuse(options.distance))
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("method fused has distance stages register-tiled, fp16, split-fp16 and int8; {} was asked for",
                    to_string(options.distance)));
  if (options.method == Method::two_stage && options.distance == DistanceStage::int8)
    throw Error(ErrorCode::invalid_argument,
                "method two-stage stores its scores, which distance stage int8 does not; method fused has it");
  throw Error(ErrorCode::invalid_argument,
              fmt::format("no plan for a device begins with distance stage {}", to_string(options.distance)));
}

std::string took_before(double seconds) {
  return fmt::format("; it took {:.3g} ms in earlier searches of this index", seconds * 1e3);
}

double point_bytes(const Problem& problem, const Options& options, const core::DevicePolicy& policy) {
  const bool directions = core::has_directions(options.metric);
  const std::int64_t fp16 = may_use_fp16(problem, options, policy) ? fp16_point_bytes(problem) : 0;
  const bool integers = why_not(DistanceStage::int8, problem, options.metric, policy.hardware).empty();
  const std::int64_t bytes = integers ? (problem.dims + 15) / 16 * 16 : 0;
  return static_cast<double>(problem.dims * core::element_bytes(problem) * (directions ? 2 : 1) + 24 + fp16 + bytes);
}

bool stays_narrow(const Problem& problem, const Options& options, const core::DevicePolicy& policy) {
  const bool integers = problem.dtype == DType::uint8 || problem.dtype == DType::int8;
  const bool halves = problem.dtype == DType::float16 || problem.dtype == DType::bfloat16;
  const bool brute = options.method == Method::automatic || options.method == Method::two_stage ||
                     options.method == Method::fused || options.method == Method::brute;
  if (!brute || !(integers || halves) || problem.dims < policy.fp16_min_dims) return false;
  if (may_use_fp16(problem, options, policy)) return true;
  const bool wants_bytes = options.distance == DistanceStage::automatic || options.distance == DistanceStage::int8;
  return wants_bytes && why_not(DistanceStage::int8, problem, options.metric, policy.hardware).empty();
}

bool has_room_for_all(const Problem& problem, const Options& options, const core::DeviceFacts& facts) {
  const double bytes = static_cast<double>(problem.base_rows) * point_bytes(problem, options, facts.policy);
  return bytes <= static_cast<double>(device_budget(options, facts)) / 2;
}

bool is_resident(const Problem& problem, const Options& options, const core::DeviceFacts& facts) {
  if (has_room_for_all(problem, options, facts)) return true;
  if (!stays_narrow(problem, options, facts.policy)) return false;
  const bool halves = problem.dtype == DType::float16 || problem.dtype == DType::bfloat16;
  const bool lent = problem.dtype == DType::float16 && !core::has_directions(options.metric);
  const std::int64_t stored = halves ? fp16_row_bytes(problem) : (problem.dims + 15) / 16 * 16;
  const bool rounds = may_use_fp16(problem, options, facts.policy) && !lent;
  const double bytes = static_cast<double>(stored + 24 + (rounds ? fp16_row_bytes(problem) : 0));
  return static_cast<double>(problem.base_rows) * bytes <= static_cast<double>(device_budget(options, facts)) / 2;
}

std::int64_t points_at_once(const Problem& problem, const Options& options, const core::DeviceFacts& facts) {
  if (is_resident(problem, options, facts)) return problem.base_rows;
  const double slot =
      static_cast<double>(device_budget(options, facts)) / 4 / point_bytes(problem, options, facts.policy);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(slot), 1, problem.base_rows);
}

Plan begin_device_plan(const Problem& problem, const Options& options, const core::DeviceFacts& facts) {
  if (problem.base_rows > core::kLongestDeviceRow)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} base points; a device takes at most {}", problem.base_rows, core::kLongestDeviceRow));
  Plan plan;
  plan.problem = problem;
  plan.metric = options.metric;
  plan.max_distance = options.max_distance;
  plan.backend = facts.backend;
  plan.device = facts.name;
  plan.profile = facts.profile_source;
  plan.budget_bytes = device_budget(options, facts);
  return plan;
}

std::vector<Plan::Pass> fallback_chain(const Plan& plan, const core::DevicePolicy& policy) {
  const Plan::Pass first{plan.distance, plan.expanded, plan.method == Method::fused};
  const bool squares = core::form_of(plan.metric) == core::Form::squared;
  // Exact distances at once where they cost far less, as they do for few points of many dimensions.
  const bool exact_next =
      4 * predicted_seconds(plan, DistanceStage::exact) < predicted_seconds(plan, DistanceStage::register_tiled);
  const auto unrounded = [&](bool expanded) {
    return Plan::Pass{DistanceStage::register_tiled, expanded, fuses_unrounded(plan)};
  };
  std::vector<Plan::Pass> passes = {first};
  const auto push_bounded = [&] {
    Plan::Pass bounded = passes.back();
    bounded.bounded = true;
    passes.push_back(bounded);
  };
  if (first.fused && tests_products(first.distance, policy.hardware)) {
    push_bounded();
    if (first.distance == DistanceStage::fp16) {
      passes.push_back({DistanceStage::split_fp16, first.expanded, true});
      push_bounded();
    }
    if (!exact_next) passes.push_back(unrounded(false));
  } else {
    const bool rounded = first.distance == DistanceStage::fp16;
    if (rounded && first.fused && !exact_next) passes.push_back(unrounded(squares));
    if ((first.expanded || (rounded && !first.fused)) && !exact_next) passes.push_back(unrounded(false));
  }
  if (first.distance != DistanceStage::exact) passes.push_back({DistanceStage::exact});
  return passes;
}

Plan plan_device(const Problem& problem, const Options& options, const core::DeviceFacts& facts,
                 const IndexFacts& index) {
  if (options.method == Method::shifted_sort) return plan_device_shifted_sort(problem, options, facts);
  if (options.method == Method::triangle) return plan_device_triangle(problem, options, facts);
  if (options.method == Method::tree) return plan_device_tree(problem, options, facts, index.has_tree);
  Plan plan = begin_device_plan(problem, options, facts);
  plan.method = Method::two_stage;
  plan.select = options.select;
  plan.workspace_bytes = plan.budget_bytes / 2;
  plan.candidates = std::min(problem.base_rows, problem.k + spare_candidates(problem));

  std::vector<RankedStage> stages = rank_stages(facts, problem, options, index, plan.candidates);
  plan.forced = options.distance != DistanceStage::automatic;
  const auto chosen = plan.forced ? std::find_if(stages.begin(), stages.end(),
                                                 [&](const auto& one) { return one.stage == options.distance; })
                                  : stages.begin();
  if (chosen == stages.end()) refuse_stage(problem, options, facts.policy.hardware);
  plan.distance = chosen->stage;
  plan.seconds = chosen->cost.seconds;
  if (chosen->cost.fused) plan.method = Method::fused;
  const bool products =
      plan.distance == DistanceStage::gemm || rounds(plan.distance) || plan.distance == DistanceStage::int8;
  plan.expanded = core::form_of(options.metric) == core::Form::squared &&
                  (products || (plan.distance == DistanceStage::register_tiled && problem.dims >= kExpandFrom));
  const bool timed = chosen->timed;
  for (const RankedStage& one : stages)
    if (one.stage != plan.distance && !is_listed(plan, one.stage))
      plan.alternatives.push_back({one.stage, one.cost.seconds, method_of(one.cost)});
  plan.passes = fallback_chain(plan, facts.policy);
  // A trial takes about twice as long as all else that starts a search; a pass that fails, as long as it takes.
  plan.tries_passes = plan.seconds > static_cast<double>(facts.policy.trial_microseconds) / 1e6;
  fit(plan, points_at_once(problem, options, facts), facts.policy);
  plan.reason = device_reason(plan, plan.forced, facts.policy.hardware);
  if (timed && !plan.forced) plan.reason += took_before(plan.seconds);
  return plan;
}

Plan plan_device_distinct(const Problem& problem, const Options& options, const core::DeviceFacts& facts,
                          const IndexFacts& index, std::int64_t distinct_rows) {
  Problem searched = problem;
  searched.base_rows = distinct_rows;
  searched.k = std::min(problem.k, distinct_rows);
  Plan plan = plan_device(searched, options, facts, index);
  plan.problem = problem;
  plan.distinct_rows = distinct_rows;
  plan.reason += fmt::format("; {} of {} rows are distinct: each is searched once", distinct_rows, problem.base_rows);
  return plan;
}

std::int64_t distinct_limit(const Problem& problem, const Options& options, const core::DeviceFacts& facts) {
  const bool brute = options.method != Method::triangle && options.method != Method::shifted_sort;
  if (!brute || problem.base_rows < facts.policy.duplicates_min_points || !has_room_for_all(problem, options, facts))
    return 0;
  // They are found in the half of the budget that searches have, and stay in that of the base.
  const std::int64_t half = device_budget(options, facts) / 2;
  if (problem.base_rows > half / core::kGroupingBytes) return 0;
  const double bytes = point_bytes(problem, options, facts.policy);
  const double room = static_cast<double>(half) - static_cast<double>(problem.base_rows) * (bytes + core::kGroupBytes);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(room / bytes), 0, problem.base_rows / 2);
}

}  // namespace kith::plan
