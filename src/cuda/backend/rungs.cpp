#include "cuda/backend/rungs.hpp"

#include <limits>

namespace kith::KITH_BACKEND {
namespace {

DistanceStage parse_stage(const std::string& name) {
  if (name == "direct") return DistanceStage::direct;
  if (name == "tiled") return DistanceStage::tiled;
  if (name == "gemm") return DistanceStage::gemm;
  if (name == "half") return DistanceStage::half;
  if (name == "keys") return DistanceStage::keys;
  return DistanceStage::register_tiled;
}

const char* to_string(DistanceStage stage) {
  switch (stage) {
    case DistanceStage::direct: return "direct";
    case DistanceStage::tiled: return "tiled";
    case DistanceStage::register_tiled: return "register-tiled";
    case DistanceStage::gemm: return "gemm";
    case DistanceStage::half: return "half";
    case DistanceStage::fused: return "fused";
    case DistanceStage::fused_half: return "fused half";
    case DistanceStage::keys: return "keys";
  }
  return "?";
}

DistanceStage first_stage(const Plan& plan) {
  const DistanceStage stage = parse_stage(plan.distance);
  if (plan.method != Method::fused) return stage;
  return stage == DistanceStage::half ? DistanceStage::fused_half : DistanceStage::fused;
}

// Whether scores of unrounded points are stored when those of halfs, which are not, did not do.
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

// Halfs that cannot tell neighbours apart are followed by products of unrounded points where these cost little more,
// products by differences, whose error is relative, and these by keys; by keys at once where these cost far less, as
// they do for few points of many dimensions.
std::vector<Rung> ladder(const Plan& plan) {
  const DistanceStage first = first_stage(plan);
  const bool squares = core::form_of(plan.metric) == core::Form::squared;
  const bool keys_next = 4 * predicted(plan, "keys") < predicted(plan, "register-tiled");
  std::vector<Rung> rungs = {{first, plan.expanded}};
  if (first == DistanceStage::fused_half && !keys_next) rungs.push_back({unrounded_stage(plan), squares});
  if ((plan.expanded || first == DistanceStage::half) && !keys_next) rungs.push_back({unrounded_stage(plan), false});
  if (first != DistanceStage::keys) rungs.push_back({DistanceStage::keys, false});
  return rungs;
}

}  // namespace

BruteWork work_of(const Plan& plan, double span) {
  // A trial takes about twice as long as all else that starts a search; a rung that fails, as long as it takes.
  constexpr double kWorthTrying = 1e-3;
  return {.metric = plan.metric,
          .k = plan.problem.k,
          .candidates = plan.candidates,
          .select = plan.select,
          .rungs = ladder(plan),
          .query_tile = plan.query_block,
          .base_tile = plan.base_tile,
          .span = span,
          .tries = plan.seconds > kWorthTrying,
          .remembers = !plan.forced};
}

void add_steps(const BruteWork& work, const std::vector<RungReport>& done, SearchReport& report) {
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (done[i].queries == 0) continue;
    report.steps.push_back({to_string(work.rungs[i].stage), done[i].queries});
    report.finalists += done[i].keys;
  }
}

}  // namespace kith::KITH_BACKEND
