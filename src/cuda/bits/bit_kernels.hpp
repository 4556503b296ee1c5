// bit_kernels.hpp: rows of packed bits on a device, and distances of them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kith/bit_metric.hpp"

namespace kith::KITH_BACKEND::bits {

using Word = unsigned long long;

// Words of 64 bits: of the base, one word of all rows after the other, so that a warp reads neighbors; of queries, one
// row after the other.
enum class Layout { by_word, by_row };

// Rows of `bytes` bytes, one after the other, become words; zeros past their end. They are rows `first` … of `rows`.
struct PackedRows {
  const std::uint8_t* bytes = nullptr;
  std::int64_t bytes_each = 0;
  std::int64_t count = 0;
};
void arrange_words(const PackedRows& from, Layout layout, std::int64_t first, std::int64_t rows, std::int64_t words,
                   Word* to, cudaStream_t stream);

// A tile of queries and base rows.
struct BitTile {
  const Word* queries = nullptr;  // by_row
  std::int64_t query_count = 0;
  const Word* base = nullptr;    // by_word, from the first row of the tile on
  std::int64_t base_stride = 0;  // rows of the whole base
  std::int64_t base_count = 0;
  std::int64_t words = 0;
  std::int64_t bits = 0;
  std::int64_t own_row = -1;  // where queries are the base: the row of the tile that the first of them is, else −1
  bool excludes_self = false;
};

// Writes query_count × base_count distances; of a row and itself, where that is excluded, NaN.
void bit_distances(const BitTile& tile, BitMetric metric, float* distances, cudaStream_t stream);

struct RadiusHit {
  unsigned query;
  unsigned row;
  float distance;
};
// Appends the places of a matrix that are within the query's radius, in any order, to *count hits.
void append_within(const float* distances, std::int64_t queries, std::int64_t rows, const float* radii, RadiusHit* hits,
                   unsigned long long* count, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::bits
