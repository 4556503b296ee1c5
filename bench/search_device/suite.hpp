// suite.hpp: what is measured together.
#pragma once

#include <string>
#include <vector>

#include "search_device/harness.hpp"
#include "search_device/stages.hpp"

namespace kith::search_bench {

// Short, for tables of problems.
inline constexpr MetricKind kL2 = MetricKind::sqeuclidean;

inline const Contender kAuto;
inline const Contender kFused{"fused", Method::fused};

// One problem, and who solves it.
struct Case {
  Problem problem;
  std::vector<Contender> contenders;  // empty: the planner's choice, and every stage where the suite wants them
  std::string figure;                 // that it belongs to
};

// Distance stages alone, side by side.
struct StageCase {
  Tile tile;
  std::string figure;
};

struct Suite {
  std::string name;
  std::string what;
  Limits limits;
  bool all_stages = false;
  std::vector<Case> cases;
  std::vector<StageCase> stage_cases;
};

// must      the shapes a search has to be good at, with bars for well-spread points
// grid      how near the planner's choice is to the best of all stages, over the whole range of shapes
// triangle  method triangle against the others, on sets shaped as those of Chen et al.: their Tables III to V and
//           Figures 10 to 12
// figures   what Hanák's chapter 5 compares: figures 5.1, 5.8, 5.9 and 5.12, on today's sizes
std::vector<std::string> suite_names();

// `data` is for `must`; the others say what theirs is. `quick`: small problems that only show that all works.
// `file`: points for `triangle` to use beside its own; may be empty.
Suite make_suite(const std::string& name, const std::vector<Data>& data, const std::string& file, bool quick);

std::string describe(const Case& one);
std::string describe(const StageCase& one);

// The suites, each in a file of suites/.
Suite must_suite(const std::vector<Data>& data);
Suite grid_suite();
Suite figures_suite();
Suite triangle_suite(const std::string& file);

}  // namespace kith::search_bench
