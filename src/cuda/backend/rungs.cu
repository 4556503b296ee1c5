#include "cuda/backend/rungs.hpp"

namespace kith::KITH_BACKEND {
namespace {

DistanceStage parse_stage(const std::string& name) {
  if (name == "direct") return DistanceStage::direct;
  if (name == "tiled") return DistanceStage::tiled;
  if (name == "gemm") return DistanceStage::gemm;
  if (name == "half") return DistanceStage::half;
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
    case DistanceStage::keys: return "keys";
  }
  return "?";
}

// Products that cannot tell neighbours apart are followed by differences, whose error is relative, or, where the metric
// is a product itself, by those of unrounded points; and then by keys.
std::vector<Rung> ladder(const Plan& plan) {
  const DistanceStage first = plan.method == Method::fused ? DistanceStage::fused : parse_stage(plan.distance);
  std::vector<Rung> rungs = {{first, plan.expanded}};
  if (plan.expanded || first == DistanceStage::half) rungs.push_back({DistanceStage::register_tiled, false});
  rungs.push_back({DistanceStage::keys, false});
  return rungs;
}

}  // namespace

BruteWork work_of(const Plan& plan, double span) {
  return {plan.metric,  plan.problem.k,   plan.candidates, plan.select,
          ladder(plan), plan.query_block, plan.base_tile,  span};
}

void add_steps(const BruteWork& work, const std::vector<RungReport>& done, SearchReport& report) {
  for (std::size_t i = 0; i < done.size(); ++i) {
    report.steps.push_back({to_string(work.rungs[i].stage), done[i].queries});
    report.finalists += done[i].keys;
  }
}

}  // namespace kith::KITH_BACKEND
