// grid.cpp: shapes from one query to 100,000, a thousand points to ten million, 2 dimensions to 4096. Each is small
// enough that all stages, but for those predicted to be far off, take less than a second together.
#include <array>

#include "device/search/problem.hpp"

namespace kith::bench::device::search {
namespace {

constexpr MetricKind kL1 = MetricKind::manhattan;
constexpr MetricKind kDot = MetricKind::inner_product;

struct Group {
  MetricKind metric;
  Data data;
  std::vector<std::array<std::int64_t, 4>> shapes;  // queries, base rows, dims, k
};

const Group kGroups[] = {
    {kL2,
     Data::gaussian,
     {{1, 1000, 64, 10},          {1, 10000, 128, 10},      {1, 100000, 768, 10},       {1, 100000, 4096, 10},
      {1, 1000000, 3, 10},        {1, 1000000, 32, 10},     {1, 1000000, 128, 10},      {1, 1000000, 128, 1000},
      {1, 1000000, 768, 100},     {1, 10000000, 3, 1},      {1, 10000000, 16, 100},     {4, 10000, 256, 10},
      {4, 100000, 32, 1},         {4, 100000, 768, 10},     {4, 1000000, 8, 100},       {4, 1000000, 128, 10},
      {4, 10000000, 2, 10},       {16, 1000, 16, 1},        {16, 10000, 4096, 10},      {16, 100000, 256, 1000},
      {16, 1000000, 3, 10},       {16, 1000000, 64, 10},    {16, 1000000, 128, 100},    {16, 10000000, 8, 10},
      {64, 10000, 32, 1000},      {64, 100000, 64, 1},      {64, 100000, 768, 100},     {64, 1000000, 16, 10},
      {64, 1000000, 128, 10},     {64, 1000000, 256, 10},   {64, 10000000, 3, 10},      {256, 1000, 256, 10},
      {256, 10000, 64, 10},       {256, 100000, 128, 100},  {256, 100000, 4096, 10},    {256, 1000000, 3, 10},
      {256, 1000000, 32, 1000},   {256, 1000000, 128, 10},  {256, 1000000, 768, 10},    {256, 10000000, 16, 1},
      {1000, 1000, 16, 100},      {1000, 10000, 128, 10},   {1000, 10000, 4096, 1},     {1000, 100000, 8, 1000},
      {1000, 100000, 32, 10},     {1000, 100000, 768, 10},  {1000, 1000000, 2, 1},      {1000, 1000000, 16, 100},
      {1000, 1000000, 64, 1000},  {1000, 1000000, 128, 10}, {1000, 1000000, 256, 10},   {1000, 10000000, 3, 10},
      {10000, 1000, 3, 1},        {10000, 1000, 128, 10},   {10000, 10000, 32, 10},     {10000, 10000, 128, 100},
      {10000, 10000, 768, 10},    {10000, 10000, 4096, 10}, {10000, 100000, 16, 10},    {10000, 100000, 64, 10},
      {10000, 100000, 128, 1000}, {10000, 100000, 256, 1},  {10000, 100000, 768, 10},   {10000, 1000000, 3, 10},
      {10000, 1000000, 8, 1},     {10000, 1000000, 32, 10}, {10000, 1000000, 128, 100}, {100000, 1000, 32, 10},
      {100000, 1000, 768, 1},     {100000, 10000, 8, 1000}, {100000, 10000, 128, 10},   {100000, 100000, 3, 10},
      {100000, 100000, 16, 10},   {100000, 100000, 64, 100}}},
    {kL1,
     Data::gaussian,
     {{1, 1000000, 128, 10},
      {16, 100000, 64, 10},
      {256, 100000, 128, 10},
      {1000, 1000000, 16, 10},
      {10000, 100000, 64, 10}}},
    {kDot,
     Data::gaussian,
     {{1, 1000000, 128, 10}, {64, 100000, 768, 10}, {1000, 1000000, 64, 100}, {10000, 100000, 128, 10}}},
    {kL2,
     Data::clustered,
     {{1, 1000000, 64, 10},
      {64, 100000, 128, 10},
      {1000, 100000, 128, 10},
      {1000, 1000000, 16, 10},
      {10000, 100000, 32, 100},
      {10000, 100000, 256, 10}}},
};

}  // namespace

Suite grid_suite(const Settings& settings) {
  Suite suite{"search/grid", "the planner's choice against the best of all stages", "", {}, search_ceilings, {}};
  suite.limits = {.rounds = 15, .budget_ms = 60, .slow_ms = 1000, .skip_ms = 100, .samples = 8};
  for (const Group& group : kGroups)
    for (const auto& [queries, rows, dims, k] : group.shapes) {
      const Problem problem{queries, rows, dims, k, group.metric, 0, false, group.data};
      suite.cases.push_back(search_case("", problem, {}, {.all_stages = true, .compare_choice = true}, settings));
    }
  return suite;
}

}  // namespace kith::bench::device::search
