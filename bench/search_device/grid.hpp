// grid.hpp: how near the planner's choice comes to the best of all stages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search_device/harness.hpp"

namespace kith::search_bench {

// A choice within this factor of the best is as good as the best.
inline constexpr double kNearBest = 1.10;

struct GridPoint {
  Problem problem;
  std::string choice;  // the planner's: a distance stage, or fused
  double choice_ms = 0;
  std::string best;
  double best_ms = 0;

  double ratio() const { return choice_ms / best_ms; }
};

// Of the contenders of one problem; nothing where the choice was not timed.
std::optional<GridPoint> grid_point(const std::vector<Measurement>& contenders);

struct GridVerdict {
  std::size_t points = 0;
  std::size_t near_best = 0;
  const GridPoint* worst = nullptr;
};

GridVerdict judge(const std::vector<GridPoint>& points);

// "71 of 89 within 1.10 of the best, worst 3.21 at …"
std::string to_string(const GridVerdict& verdict);

}  // namespace kith::search_bench
