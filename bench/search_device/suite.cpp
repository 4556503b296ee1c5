#include "search_device/suite.hpp"

#include <algorithm>

namespace kith::search_bench {
namespace {

std::string prefix(const std::string& figure) {
  return figure.empty() ? "" : "figure " + figure + ": ";
}

void shrink(Suite& suite) {
  for (Case& one : suite.cases) one.problem = shrunk(one.problem);
  for (StageCase& one : suite.stage_cases) {
    one.tile.queries = std::max<std::int64_t>(1, one.tile.queries / 20);
    one.tile.points = std::clamp<std::int64_t>(one.tile.points / 50, 1, 4096);
  }
  suite.limits.quick = true;
}

}  // namespace

std::vector<std::string> suite_names() {
  return {"must", "grid", "figures", "triangle"};
}

Suite make_suite(const std::string& name, const std::vector<Data>& data, const std::string& file, bool quick) {
  Suite suite = name == "grid"       ? grid_suite()
                : name == "figures"  ? figures_suite()
                : name == "triangle" ? triangle_suite(file)
                                     : must_suite(data);
  if (quick) shrink(suite);
  return suite;
}

std::string describe(const Case& one) {
  return prefix(one.figure) + describe(one.problem);
}

std::string describe(const StageCase& one) {
  return prefix(one.figure) + describe(one.tile);
}

}  // namespace kith::search_bench
