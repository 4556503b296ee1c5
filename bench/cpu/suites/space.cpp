// space.cpp: approximate search of points in three dimensions beside an exact tree, each with what it prepares.
#include "common/space_sets.hpp"
#include "cpu/suites/suites.hpp"

namespace kith::bench {

Suite space_suite() {
  Suite suite{"space", "shifted sorting of points in 3 dimensions, approximate, beside nanoflann", {}};
  for (const std::string& set : space_set_names()) {
    RowSpec row;
    row.name = "space-" + set;
    row.queries = row.base_rows = 1000000;
    row.dims = 3;
    row.k = 10;
    row.data = DataKind::space;
    row.set = set;
    row.contenders = {Kind::kith_shifted, Kind::nanoflann_whole};
    suite.rows.push_back(std::move(row));
  }
  return suite;
}

}  // namespace kith::bench
