#include "lowdim/tables.hpp"

namespace kith::lowdim_bench {
namespace {

constexpr std::int64_t kMillion = 1000000;

void add_must(std::vector<Case>& cases) {
  for (const std::string& set : pair_names())
    for (const std::int64_t k : {10, 50, 100}) cases.push_back({"must", set, kMillion, kMillion, k, {}});
  cases.push_back({"must", "uniform", 10 * kMillion, kMillion, 50, {}});
  cases.push_back({"must", "uniform", 10 * kMillion, 10 * kMillion, 10, {}});
}

void add_variants(std::vector<Case>& cases) {
  const auto add = [&](const std::string& set, auto change) {
    Case one{"variants", set, kMillion, kMillion, 50, {}};
    change(one);
    cases.push_back(one);
  };
  for (const char* set : {"uniform", "cluster-into-bunny"}) {
    add(set, [](Case&) {});
    add(set, [](Case& one) { one.tuning.window = one.k; });
    add(set, [](Case& one) { one.tuning.merge = CurveMerge::global_memory; });
    add(set, [](Case& one) { one.tuning.positions = CurvePositions::sort; });
    // As the paper has it throughout.
    add(set, [](Case& one) {
      one.tuning.merge = CurveMerge::global_memory;
      one.tuning.positions = CurvePositions::sort;
      one.tuning.curve = Curve::morton;
    });
    add(set, [](Case& one) { one.tuning.curve = Curve::morton; });
    add(set, [](Case& one) { one.tuning.guaranteed = true; });
    for (const int shifts : {1, 2, 3, 8}) add(set, [=](Case& one) { one.tuning.shifts = shifts; });
  }
  for (const std::int64_t k : {1, 256, 1024})
    add("uniform", [=](Case& one) {
      one.k = k;
      one.queries = kMillion / 4;
    });
}

}  // namespace

const std::vector<std::string>& table_names() {
  static const std::vector<std::string> names = {"must", "figure-3", "figure-5", "figure-6", "figure-7", "variants"};
  return names;
}

std::vector<Case> cases_of(const std::string& table, bool quick) {
  std::vector<Case> cases;
  if (table == "must") add_must(cases);
  if (table == "variants") add_variants(cases);
  for (const std::string& set : pair_names()) {
    if (table == "figure-3")
      for (const std::int64_t quarters : {1, 2, 4, 6, 8, 16})
        cases.push_back({table, set, quarters * kMillion / 4, kMillion, 50, {}});
    if (table == "figure-5")
      for (const std::int64_t tenths : {1, 2, 4, 6, 8, 10, 12, 20, 40})
        cases.push_back({table, set, 2 * kMillion, tenths * kMillion / 10, 50, {}});
    if (table == "figure-6")
      for (const std::int64_t k : {10, 20, 30, 40, 50, 60, 80, 100, 120})
        cases.push_back({table, set, kMillion, kMillion, k, {}});
    if (table == "figure-7") cases.push_back({table, set, kMillion, kMillion, 100, {}});
  }
  if (quick)
    for (Case& one : cases) {
      one.base /= 10;
      one.queries /= 10;
    }
  return cases;
}

}  // namespace kith::lowdim_bench
