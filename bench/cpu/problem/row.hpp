// row.hpp: what a row of the benchmark is, as plain data: a problem, who takes part, and the bars to meet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/matrix.hpp"
#include "kith/metric.hpp"

namespace kith::bench {

enum class DataKind {
  uniform,    // independent coordinates in [0, 1]
  clustered,  // clusters far tighter than a float32 matrix product can resolve
  colors,     // whole numbers from 0 to 255 in clusters, with many copies, as pixels have
  file,       // rows of RowSpec::file
  space,      // RowSpec::set of space_sets.hpp
  line,       // uniform along one line
  copies,     // 64 points, each many times
  offset,     // uniform, 10,000 away from the origin
  outlier,    // uniform but for one point, at −1e30
  huge,       // uniform, times 1e18, whose squares float just holds
  bits,       // 0 and 1
};

const char* to_string(DataKind data);

// Who takes part. The first of a row is its subject: what bars and ratios are about.
enum class Kind {
  kith,              // Index::search on a ready index
  kith_one_by_one,   // Index::search_into on a ready index, a call for each query
  kith_sqeuclidean,  // Index::search under sqeuclidean, for rows of another metric
  kith_float32,      // Index::search of points converted to float32, for rows of fewer bits
  kith_graph,        // graph(): index, search and CSR in one call
  kith_triangle,     // an index of method triangle made and searched: its clusters are timed
  kith_brute,        // the same with method brute
  kith_tree,         // the same with method tree
  kith_whole,        // the same with the method that the planner chooses
  kith_shifted,      // the same with method shifted-sort
  kith_filtered,     // Collection::search with a mask that leaves RowSpec::allowed of the points
  kith_unfiltered,   // ceiling: the same without a mask
  kith_formula,      // search_by() of the formula that is manhattan, which is recognized
  kith_written,      // the same computed as written, by a loop of its own in double
  kith_interpreted,  // the same without such a loop
  kith_bits,         // BitIndex::search of the points as packed bits
  heap_baseline,     // matrix product and a binary heap per query
  faiss,
  faiss_blas,  // FAISS made to take its BLAS path, which it does not by itself for fewer than 20 queries
  faiss_bits,  // IndexBinaryFlat of the points as packed bits
  nanoflann,
  nanoflann_one_by_one,  // by one thread
  nanoflann_whole,       // its tree built in every run
  faiss_filtered,        // IndexFlatL2 with an IDSelectorBitmap
  gemm,                  // ceiling: one matrix product of the row's shape
  read,                  // ceiling: one read of the base
};

enum class Role { exact, approximate, peer, ceiling };

Role role_of(Kind kind);

// The subject takes at most `limit` times as long as `against`.
struct Bar {
  Kind against;
  double limit;
};

struct RowSpec {
  std::string name;
  std::int64_t queries = 0;
  std::int64_t base_rows = 0;
  std::int64_t dims = 0;
  std::int64_t k = 0;
  std::vector<Kind> contenders;
  std::vector<Bar> bars;
  Metric metric = MetricKind::sqeuclidean;
  DType dtype = DType::float32;
  DataKind data = DataKind::uniform;
  // Of DataKind::file: base_rows of its rows, spread evenly; the queries are the same. Of space: the surface's folder.
  std::string file;
  std::string set;     // of DataKind::space
  bool self = false;   // the queries are the base points, each leaving itself out
  double allowed = 1;  // share of the base points that contenders may find
};

// "1000 × 100000 × 128, k = 10, sqeuclidean, float32, uniform"
std::string describe(const RowSpec& row);

// The same row on a problem so small that only the harness is tested; its times mean nothing, so it has no bars.
RowSpec shrink(RowSpec row);

}  // namespace kith::bench
