#include "cuda/brute/brute_work.hpp"

#include <limits>

namespace kith::KITH_BACKEND::brute {
namespace {

DistanceStage parse_stage(const std::string& name) {
  if (name == "direct") return DistanceStage::direct;
  if (name == "tiled") return DistanceStage::tiled;
  if (name == "gemm") return DistanceStage::gemm;
  if (name == "fp16") return DistanceStage::fp16;
  if (name == "exact") return DistanceStage::exact;
  return DistanceStage::register_tiled;
}

const char* to_string(DistanceStage stage) {
  switch (stage) {
    case DistanceStage::direct: return "direct";
    case DistanceStage::tiled: return "tiled";
    case DistanceStage::register_tiled: return "register-tiled";
    case DistanceStage::gemm: return "gemm";
    case DistanceStage::fp16: return "fp16";
    case DistanceStage::fused: return "fused";
    case DistanceStage::fused_fp16: return "fused fp16";
    case DistanceStage::exact: return "exact";
  }
  return "?";
}

DistanceStage first_stage(const Plan& plan) {
  const DistanceStage stage = parse_stage(plan.distance);
  if (plan.method != Method::fused) return stage;
  return stage == DistanceStage::fp16 ? DistanceStage::fused_fp16 : DistanceStage::fused;
}

// Whether scores of unrounded points are stored when those of fp16, which are not, did not do.
DistanceStage unrounded_stage(const Plan& plan) {
  if (plan.method != Method::fused) return DistanceStage::register_tiled;
  const auto found = std::find_if(plan.alternatives.begin(), plan.alternatives.end(),
                                  [](const auto& other) { return other.distance == "register-tiled"; });
  const bool stored = found != plan.alternatives.end() && found->method == Method::two_stage;
  return stored ? DistanceStage::register_tiled : DistanceStage::fused;
}

double predicted(const Plan& plan, const std::string& stage) {
  if (plan.distance == stage) return plan.seconds;
  for (const Plan::Alternative& other : plan.alternatives)
    if (other.distance == stage) return other.seconds;
  return std::numeric_limits<double>::infinity();
}

// Fp16 that cannot tell neighbors apart are followed by products of unrounded points where these cost little more,
// products by differences, whose error is relative, and these by keys; by keys at once where these cost far less, as
// they do for few points of many dimensions.
std::vector<Pass> ladder(const Plan& plan) {
  const DistanceStage first = first_stage(plan);
  const bool squares = core::form_of(plan.metric) == core::Form::squared;
  const bool keys_next = 4 * predicted(plan, "exact") < predicted(plan, "register-tiled");
  std::vector<Pass> passes = {{first, plan.expanded}};
  if (first == DistanceStage::fused_fp16 && !keys_next) passes.push_back({unrounded_stage(plan), squares});
  if ((plan.expanded || first == DistanceStage::fp16) && !keys_next) passes.push_back({unrounded_stage(plan), false});
  if (first != DistanceStage::exact) passes.push_back({DistanceStage::exact, false});
  return passes;
}

}  // namespace

BruteWork brute_work_of(const Plan& plan, double integer_range, PassHistory& history) {
  // A trial takes about twice as long as all else that starts a search; a pass that fails, as long as it takes.
  constexpr double kWorthTrying = 1e-3;
  return {.metric = plan.metric,
          .k = plan.problem.k,
          .candidates = plan.candidates,
          .select = plan.select,
          .passes = ladder(plan),
          .query_tile = plan.query_block,
          .base_tile = plan.base_tile,
          .integer_range = integer_range,
          .tries = plan.seconds > kWorthTrying,
          .remembers = !plan.forced,
          .history = &history};
}

void add_steps(const BruteWork& work, const std::vector<PassReport>& done, SearchReport& report) {
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (done[i].queries == 0) continue;
    report.steps.push_back({to_string(work.passes[i].stage), done[i].queries});
    report.finalists += done[i].keys;
  }
}

}  // namespace kith::KITH_BACKEND::brute
