// formula.cpp: a formula beside the built-in metric that it is, both by brute force, their index included.
#include <fmt/format.h>

#include "cpu/suites/suites.hpp"

namespace kith::bench {

Suite formula_suite() {
  Suite suite{"formula", "a metric by its formula, beside the built-in one", {}};
  for (const std::int64_t dims : {16, 128}) {
    RowSpec row;
    row.name = fmt::format("formula-{}", dims);
    row.queries = 1000;
    row.base_rows = 100000;
    row.dims = dims;
    row.k = 10;
    row.metric = MetricKind::manhattan;
    row.contenders = {Kind::kith_formula, Kind::kith_brute, Kind::kith_written, Kind::kith_interpreted};
    row.bars = {{Kind::kith_brute, 2.0}};
    suite.rows.push_back(row);
  }
  return suite;
}

}  // namespace kith::bench
