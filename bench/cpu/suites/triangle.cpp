// triangle.cpp: points with structure, where the triangle inequality saves most distances: the clusters count in the
// times, as the tree of nanoflann does.
#include "cpu/suites/suites.hpp"

namespace kith::bench {
namespace {

RowSpec colors(std::string name, std::int64_t rows) {
  RowSpec row;
  row.name = std::move(name);
  row.queries = row.base_rows = rows;
  row.dims = 4;
  row.k = 20;
  row.data = DataKind::colors;
  row.self = true;
  row.contenders = {Kind::kith_triangle, Kind::kith_brute, Kind::nanoflann_whole};
  row.bars = {{Kind::kith_brute, 0.1}, {Kind::nanoflann_whole, 1.0}};
  return row;
}

// Nothing to save: what triangle costs where it should not be taken.
RowSpec noise(std::int64_t dims) {
  RowSpec row = colors("noise-d" + std::to_string(dims), 20000);
  row.dims = dims;
  row.data = DataKind::uniform;
  row.contenders = {Kind::kith, Kind::kith_triangle, Kind::kith_brute};
  row.bars = {{Kind::kith_brute, 1.15}};
  return row;
}

}  // namespace

Suite triangle_suite() {
  return {"triangle",
          "points with structure, and without",
          {colors("colors-50k", 50000), colors("colors-245k", 245057), noise(4), noise(16)}};
}

}  // namespace kith::bench
