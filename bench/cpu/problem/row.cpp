#include "cpu/problem/row.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kith::bench {

const char* to_string(DataKind data) {
  switch (data) {
    case DataKind::uniform: return "uniform";
    case DataKind::clustered: return "clustered";
    case DataKind::colors: return "colors";
    case DataKind::file: return "of a file";
    case DataKind::space: return "space";
    case DataKind::line: return "line";
    case DataKind::copies: return "copies";
    case DataKind::offset: return "offset";
    case DataKind::outlier: return "outlier";
    case DataKind::huge: return "huge";
    case DataKind::bits: return "bits";
  }
  return "unknown";
}

Role role_of(Kind kind) {
  switch (kind) {
    case Kind::kith:
    case Kind::kith_one_by_one:
    case Kind::kith_sqeuclidean:
    case Kind::kith_float32:
    case Kind::kith_graph:
    case Kind::kith_triangle:
    case Kind::kith_brute:
    case Kind::kith_tree:
    case Kind::kith_whole:
    case Kind::kith_filtered:
    case Kind::kith_formula:
    case Kind::kith_written:
    case Kind::kith_interpreted:
    case Kind::kith_bits: return Role::exact;
    case Kind::kith_shifted: return Role::approximate;
    case Kind::heap_baseline:
    case Kind::faiss:
    case Kind::faiss_blas:
    case Kind::faiss_bits:
    case Kind::nanoflann:
    case Kind::nanoflann_one_by_one:
    case Kind::nanoflann_whole:
    case Kind::faiss_filtered: return Role::peer;
    case Kind::kith_unfiltered:
    case Kind::gemm:
    case Kind::read: return Role::ceiling;
  }
  return Role::peer;
}

std::string describe(const RowSpec& row) {
  const std::string queries = row.self ? "all" : std::to_string(row.queries);
  return fmt::format("{} × {} × {}, k = {}, {}, {}, {}", queries, row.base_rows, row.dims, row.k, to_string(row.metric),
                     to_string(row.dtype), row.set.empty() ? to_string(row.data) : row.set);
}

RowSpec shrink(RowSpec row) {
  constexpr std::int64_t kQueries = 40;
  constexpr std::int64_t kBaseRows = 3000;
  constexpr std::int64_t kSelfRows = 500;
  constexpr std::int64_t kNeighbors = 100;
  row.base_rows = std::min(row.base_rows, row.self ? kSelfRows : kBaseRows);
  row.queries = row.self ? row.base_rows : std::min(row.queries, kQueries);
  row.k = std::min(row.k, kNeighbors);
  row.allowed = std::max(row.allowed, 0.1);
  row.bars.clear();
  return row;
}

}  // namespace kith::bench
