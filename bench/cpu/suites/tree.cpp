// tree.cpp: points of few dimensions among themselves, by method tree and by nanoflann: both make their trees within
// the time; one query at a time, on trees that are there. Then sets that are hard for a tree, beside the same number of
// uniform points.
#include <fmt/format.h>

#include "common/space_sets.hpp"
#include "cpu/suites/suites.hpp"

namespace kith::bench {
namespace {

RowSpec tree_row(std::string name, std::int64_t rows, std::int64_t dims, std::int64_t k) {
  RowSpec row;
  row.name = std::move(name);
  row.queries = row.base_rows = rows;
  row.dims = dims;
  row.k = k;
  row.self = true;
  row.contenders = {Kind::kith_tree, Kind::kith_whole, Kind::nanoflann_whole};
  row.bars = {{Kind::nanoflann_whole, 0.6}};
  return row;
}

RowSpec one_by_one(std::int64_t rows, std::int64_t k) {
  RowSpec row = tree_row(fmt::format("tree-{}k-d3-k{}-one-by-one", rows / 1000, k), rows, 3, k);
  row.self = false;
  row.queries = 20000;
  row.contenders = {Kind::kith_one_by_one, Kind::nanoflann_one_by_one};
  row.bars = {{Kind::nanoflann_one_by_one, 1.2}};
  return row;
}

RowSpec hard(DataKind data) {
  RowSpec row = tree_row(fmt::format("tree-hard-{}", to_string(data)), 200000, 3, 10);
  row.data = data;
  row.contenders = {Kind::kith_tree};
  row.bars.clear();
  return row;
}

RowSpec in_space(const std::string& set) {
  RowSpec row = tree_row("tree-space-" + set, 1000000, 3, 10);
  row.self = false;
  row.data = DataKind::space;
  row.set = set;
  row.bars.clear();
  return row;
}

}  // namespace

Suite tree_suite() {
  struct Shape {
    std::int64_t rows;
    std::int64_t dims;
  };
  Suite suite{"tree", "points of few dimensions by trees", {}};
  for (const Shape& shape : {Shape{1000000, 2}, {1000000, 3}, {200000, 3}, {300000, 8}})
    for (const std::int64_t k : {1, 10, 50})
      suite.rows.push_back(
          tree_row(fmt::format("tree-{}k-d{}-k{}", shape.rows / 1000, shape.dims, k), shape.rows, shape.dims, k));
  for (const std::int64_t rows : {200000, 1000000})
    for (const std::int64_t k : {1, 10}) suite.rows.push_back(one_by_one(rows, k));
  for (const std::string& set : space_set_names()) suite.rows.push_back(in_space(set));
  for (const DataKind data : {DataKind::uniform, DataKind::line, DataKind::copies, DataKind::offset, DataKind::outlier,
                              DataKind::huge, DataKind::clustered})
    suite.rows.push_back(hard(data));
  return suite;
}

}  // namespace kith::bench
