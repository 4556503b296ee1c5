// bits.cpp: rows of packed bits under hamming. Points are made as bytes of 0 and 1, by which answers are checked.
#include <fmt/format.h>

#include "cpu/suites/suites.hpp"

namespace kith::bench {
namespace {

RowSpec bit_row(std::int64_t queries, std::int64_t bits) {
  RowSpec row;
  row.name = fmt::format("bits-{}-{}", queries, bits);
  row.queries = queries;
  row.base_rows = 1000000;
  row.dims = bits;
  row.k = 10;
  row.metric = MetricKind::hamming;
  row.dtype = DType::uint8;
  row.data = DataKind::bits;
  row.contenders = {Kind::kith_bits, Kind::faiss_bits};
  row.bars = {{Kind::faiss_bits, 0.5}};
  return row;
}

}  // namespace

Suite bits_suite() {
  return {"bits", "rows of packed bits under hamming", {bit_row(1000, 1024), bit_row(1000, 256), bit_row(1, 1024)}};
}

}  // namespace kith::bench
