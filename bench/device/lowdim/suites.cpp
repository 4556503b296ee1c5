// suites.cpp: what Li et al. measure, and more.
#include "device/lowdim/shifted_sort.hpp"

namespace kith::bench::device::lowdim {
namespace {

constexpr std::int64_t kMillion = 1000000;

// Every set with each of these.
std::vector<Problem> of_every_set(const std::vector<std::int64_t>& base_rows, const std::vector<std::int64_t>& queries,
                                  const std::vector<std::int64_t>& ks) {
  std::vector<Problem> problems;
  for (const std::string& set : space_set_names())
    for (const std::int64_t rows : base_rows)
      for (const std::int64_t asked : queries)
        for (const std::int64_t k : ks) problems.push_back({set, rows, asked, k});
  return problems;
}

std::vector<std::int64_t> times(std::int64_t unit, std::vector<std::int64_t> factors) {
  for (std::int64_t& factor : factors) factor *= unit;
  return factors;
}

std::vector<Problem> must() {
  std::vector<Problem> problems = of_every_set({kMillion}, {kMillion}, {10, 50, 100});
  problems.push_back({"uniform", 10 * kMillion, kMillion, 50});
  problems.push_back({"uniform", 10 * kMillion, 10 * kMillion, 10});
  return problems;
}

std::vector<Problem> figure_3() {
  return of_every_set(times(kMillion / 4, {1, 2, 4, 6, 8, 16}), {kMillion}, {50});
}

std::vector<Problem> figure_5() {
  return of_every_set({2 * kMillion}, times(kMillion / 10, {1, 2, 4, 6, 8, 10, 12, 20, 40}), {50});
}

std::vector<Problem> figure_6() {
  return of_every_set({kMillion}, {kMillion}, {10, 20, 30, 40, 50, 60, 80, 100, 120});
}

std::vector<Problem> figure_7() {
  return of_every_set({kMillion}, {kMillion}, {100});
}

std::vector<Problem> variants() {
  std::vector<Problem> problems;
  const auto add = [&](const std::string& set, auto change) {
    Problem problem{set, kMillion, kMillion, 50};
    change(problem);
    problems.push_back(problem);
  };
  for (const char* set : {"uniform", "cluster-into-bunny"}) {
    add(set, [](Problem&) {});
    add(set, [](Problem& problem) { problem.tuning.window = problem.k; });
    add(set, [](Problem& problem) { problem.tuning.merge = CurveMerge::global_memory; });
    add(set, [](Problem& problem) { problem.tuning.positions = CurvePositions::sort; });
    // As the paper has it throughout.
    add(set, [](Problem& problem) {
      problem.tuning.merge = CurveMerge::global_memory;
      problem.tuning.positions = CurvePositions::sort;
      problem.tuning.curve = Curve::morton;
    });
    add(set, [](Problem& problem) { problem.tuning.curve = Curve::morton; });
    add(set, [](Problem& problem) { problem.tuning.guaranteed = true; });
    for (const int shifts : {1, 2, 3, 8}) add(set, [=](Problem& problem) { problem.tuning.shifts = shifts; });
  }
  for (const std::int64_t k : {1, 256, 1024})
    add("uniform", [=](Problem& problem) {
      problem.k = k;
      problem.queries = kMillion / 4;
    });
  return problems;
}

}  // namespace

std::vector<Suite> all_suites(const Settings& settings) {
  return {make_suite("must", "shifted sorting: rates and qualities", must(), settings),
          make_suite("figure-3", "Li et al., figures 3 and 4: by the number of points", figure_3(), settings),
          make_suite("figure-5", "Li et al., figure 5: by the number of queries", figure_5(), settings),
          make_suite("figure-6", "Li et al., figure 6: by k", figure_6(), settings),
          make_suite("figure-7", "Li et al., figure 7: how ε is distributed", figure_7(), settings),
          make_suite("variants", "merges, positions, curves, shifts and windows", variants(), settings)};
}

}  // namespace kith::bench::device::lowdim
