// Shapes from one query to 100,000, a thousand points to ten million, 2 dimensions to 4096. Each is small enough that
// all stages, but for those predicted to be far off, take less than a second together.
#include "search_device/suite.hpp"

namespace kith::search_bench {
namespace {

constexpr MetricKind kL2 = MetricKind::sqeuclidean;
constexpr MetricKind kL1 = MetricKind::manhattan;
constexpr MetricKind kDot = MetricKind::inner_product;

struct Shape {
  std::int64_t queries;
  std::int64_t base_rows;
  std::int64_t dims;
  std::int64_t k;
  MetricKind metric = kL2;
  Data data = Data::gaussian;
};

constexpr Shape kShapes[] = {
    {1, 1000, 64, 10},
    {1, 10000, 128, 10},
    {1, 100000, 768, 10},
    {1, 100000, 4096, 10},
    {1, 1000000, 3, 10},
    {1, 1000000, 32, 10},
    {1, 1000000, 128, 10},
    {1, 1000000, 128, 1000},
    {1, 1000000, 768, 100},
    {1, 10000000, 3, 1},
    {1, 10000000, 16, 100},
    {4, 10000, 256, 10},
    {4, 100000, 32, 1},
    {4, 100000, 768, 10},
    {4, 1000000, 8, 100},
    {4, 1000000, 128, 10},
    {4, 10000000, 2, 10},
    {16, 1000, 16, 1},
    {16, 10000, 4096, 10},
    {16, 100000, 256, 1000},
    {16, 1000000, 3, 10},
    {16, 1000000, 64, 10},
    {16, 1000000, 128, 100},
    {16, 10000000, 8, 10},
    {64, 10000, 32, 1000},
    {64, 100000, 64, 1},
    {64, 100000, 768, 100},
    {64, 1000000, 16, 10},
    {64, 1000000, 128, 10},
    {64, 1000000, 256, 10},
    {64, 10000000, 3, 10},
    {256, 1000, 256, 10},
    {256, 10000, 64, 10},
    {256, 100000, 128, 100},
    {256, 100000, 4096, 10},
    {256, 1000000, 3, 10},
    {256, 1000000, 32, 1000},
    {256, 1000000, 128, 10},
    {256, 1000000, 768, 10},
    {256, 10000000, 16, 1},
    {1000, 1000, 16, 100},
    {1000, 10000, 128, 10},
    {1000, 10000, 4096, 1},
    {1000, 100000, 8, 1000},
    {1000, 100000, 32, 10},
    {1000, 100000, 768, 10},
    {1000, 1000000, 2, 1},
    {1000, 1000000, 16, 100},
    {1000, 1000000, 64, 1000},
    {1000, 1000000, 128, 10},
    {1000, 1000000, 256, 10},
    {1000, 10000000, 3, 10},
    {10000, 1000, 3, 1},
    {10000, 1000, 128, 10},
    {10000, 10000, 32, 10},
    {10000, 10000, 128, 100},
    {10000, 10000, 768, 10},
    {10000, 10000, 4096, 10},
    {10000, 100000, 16, 10},
    {10000, 100000, 64, 10},
    {10000, 100000, 128, 1000},
    {10000, 100000, 256, 1},
    {10000, 100000, 768, 10},
    {10000, 1000000, 3, 10},
    {10000, 1000000, 8, 1},
    {10000, 1000000, 32, 10},
    {10000, 1000000, 128, 100},
    {100000, 1000, 32, 10},
    {100000, 1000, 768, 1},
    {100000, 10000, 8, 1000},
    {100000, 10000, 128, 10},
    {100000, 100000, 3, 10},
    {100000, 100000, 16, 10},
    {100000, 100000, 64, 100},
    {1, 1000000, 128, 10, kL1},
    {16, 100000, 64, 10, kL1},
    {256, 100000, 128, 10, kL1},
    {1000, 1000000, 16, 10, kL1},
    {10000, 100000, 64, 10, kL1},
    {1, 1000000, 128, 10, kDot},
    {64, 100000, 768, 10, kDot},
    {1000, 1000000, 64, 100, kDot},
    {10000, 100000, 128, 10, kDot},
    {1, 1000000, 64, 10, kL2, Data::clustered},
    {64, 100000, 128, 10, kL2, Data::clustered},
    {1000, 100000, 128, 10, kL2, Data::clustered},
    {1000, 1000000, 16, 10, kL2, Data::clustered},
    {10000, 100000, 32, 100, kL2, Data::clustered},
    {10000, 100000, 256, 10, kL2, Data::clustered},
};

}  // namespace

Suite grid_suite() {
  Suite suite{"grid", "the planner's choice against the best of all stages", {}, true, {}, {}};
  suite.limits = {.rounds = 15, .budget_ms = 60, .slow_ms = 1000, .skip_ms = 100, .check_rows = 8};
  for (const Shape& shape : kShapes) {
    const Problem problem{shape.queries, shape.base_rows, shape.dims, shape.k, shape.metric, 0, false, shape.data};
    suite.cases.push_back({problem, {}, ""});
  }
  return suite;
}

}  // namespace kith::search_bench
