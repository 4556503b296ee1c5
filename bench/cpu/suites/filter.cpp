// filter.cpp: search among some of the points, beside the same search among all of them and FAISS with a bitmap.
#include <fmt/format.h>

#include "cpu/suites/suites.hpp"

namespace kith::bench {

Suite filter_suite() {
  Suite suite{"filter", "search among the points that a mask leaves", {}};
  for (const double allowed : {1e-4, 1e-2, 0.5, 1.0}) {
    RowSpec row;
    row.name = fmt::format("filter-{}", allowed);
    row.queries = 1000;
    row.base_rows = 1000000;
    row.dims = 128;
    row.k = 10;
    row.allowed = allowed;
    row.contenders = {Kind::kith_filtered, Kind::kith_unfiltered, Kind::faiss_filtered};
    row.bars = {{Kind::kith_unfiltered, allowed == 1e-4 ? 0.1 : 1.3}, {Kind::faiss_filtered, 1.0}};
    suite.rows.push_back(row);
  }
  return suite;
}

}  // namespace kith::bench
