#include "search_device/grid.hpp"

#include <fmt/format.h>

namespace kith::search_bench {

std::optional<GridPoint> grid_point(const std::vector<Measurement>& contenders) {
  GridPoint point;
  for (const Measurement& one : contenders) {
    if (one.status != Status::timed) continue;
    const std::string stage = describe(one.plan);
    if (one.contender == "auto") {
      point.problem = one.problem;
      point.choice = stage;
      point.choice_ms = one.median_ms();
    }
    if (point.best.empty() || one.median_ms() < point.best_ms) {
      point.best = stage;
      point.best_ms = one.median_ms();
    }
  }
  if (point.choice.empty()) return std::nullopt;
  return point;
}

GridVerdict judge(const std::vector<GridPoint>& points) {
  GridVerdict verdict;
  for (const GridPoint& point : points) {
    ++verdict.points;
    if (point.ratio() <= kNearBest) ++verdict.near_best;
    if (verdict.worst == nullptr || point.ratio() > verdict.worst->ratio()) verdict.worst = &point;
  }
  return verdict;
}

std::string to_string(const GridVerdict& verdict) {
  if (verdict.worst == nullptr) return "no choice was timed";
  const GridPoint& worst = *verdict.worst;
  return fmt::format("{} of {} within {:.2f} of the best, worst {:.2f} at {}: {} {:.4f} ms, {} {:.4f} ms",
                     verdict.near_best, verdict.points, kNearBest, worst.ratio(), describe(worst.problem), worst.choice,
                     worst.choice_ms, worst.best, worst.best_ms);
}

}  // namespace kith::search_bench
