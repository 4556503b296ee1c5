// must.cpp: the shapes a search has to be good at.
#include "device/search/problem.hpp"

namespace kith::bench::device::search {
namespace {

const Problem kMustProblems[] = {
    {10000, 1000000, 128, 10, kL2, 30},
    {10000, 1000000, 128, 100, kL2, 34},
    {10000, 1000000, 128, 1024, kL2, 45},
    {10000, 1000000, 768, 10, kL2, 48},
    {10000, 1000000, 32, 10, kL2, 20},
    {10000, 1000000, 16, 32, kL2, 14},
    {10000, 1000000, 3, 10, kL2, 7},
    {1000, 1000000, 128, 10, kL2, 3.5},
    {1, 1000000, 128, 10, kL2, 0.17},
    {100000, 100000, 96, 32, kL2, 28, true},
    {10000, 1000000, 64, 10, MetricKind::manhattan, 70},
};

}  // namespace

// A bar is for well-spread points; what others cost is shown beside it.
Suite must_suite(const Settings& settings) {
  Suite suite{"search/must", "the shapes a search has to be good at", "", {}, search_ceilings, {}};
  for (const std::string& data : settings.data) {
    for (Problem problem : kMustProblems) {
      problem.data = parse_data(data);
      if (problem.data != Data::gaussian) problem.bar_ms = 0;
      suite.cases.push_back(search_case("", problem, {}, {.all_stages = settings.all_stages}, settings));
    }
  }
  return suite;
}

}  // namespace kith::bench::device::search
