#include "cuda/brute/brute_work.hpp"

#include "cuda/runtime/properties.hpp"

namespace kith::KITH_BACKEND::brute {

BruteWork brute_work_of(const Plan& plan, double integer_range, PassHistory& history) {
  return {.metric = plan.metric,
          .k = searched_neighbors(plan),
          .candidates = plan.candidates,
          .select = plan.select,
          .passes = plan.passes,
          .query_tile = plan.query_block,
          .base_tile = plan.base_tile,
          .overlap_pairs = device_policy().overlap_pairs,
          .integer_range = integer_range,
          .tries = plan.tries_passes,
          .remembers = !plan.forced,
          .history = &history};
}

void add_steps(const BruteWork& work, const std::vector<PassReport>& done, SearchReport& report) {
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (done[i].queries == 0) continue;
    report.steps.push_back({work.passes[i], done[i].queries});
    report.finalists += done[i].keys;
  }
}

}  // namespace kith::KITH_BACKEND::brute
