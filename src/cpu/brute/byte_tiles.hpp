// byte_tiles.hpp: queries and tiles of the base as the products of bytes want them (stage int8).
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/prepared_rows.hpp"
#include "cpu/simd/byte_scores.hpp"

namespace kith::cpu {

// Buffers that a thread keeps from task to task.
struct ByteWorkspace {
  std::vector<std::uint8_t> rows;  // copies, where coordinates are not contiguous
  std::vector<std::uint32_t> queries;
  std::vector<std::int32_t> query_bias;
  std::vector<std::int32_t> floors;
  std::vector<std::uint32_t> panels;
  std::vector<std::int32_t> row_bias;
};

// For T uint8 or int8.
template <Element T>
class ByteTiles {
 public:
  ByteTiles(const Metric& metric, std::int64_t dims, ByteWorkspace& workspace);

  // Queries first … first + count − 1, for the tiles to come.
  void set_queries(const PreparedRows<T>& queries, std::int64_t first, std::int64_t count);

  // Scores of a tile of the base, as register_tiled_scores() appends them.
  std::int64_t score(const PreparedRows<T>& base, std::int64_t first, std::int64_t count,
                     const TiledOutput<float>& out);

 private:
  ByteRows rows_of(const MatrixView<T>& view, std::int64_t first, std::int64_t count);

  ByteForm form_;
  ByteWorkspace& workspace_;
  std::int64_t queries_ = 0;
};

}  // namespace kith::cpu
