// block_rows.hpp: listed rows of a set in the block layout of lane_blocks.hpp, in working precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/prepared_rows.hpp"
#include "cpu/simd/lane_blocks.hpp"

namespace kith::cpu {

// One row, as point `at` of the blocks.
template <class F>
void put_row(const F* row, std::int64_t dims, std::int64_t at, F* blocks) {
  F* to = blocks + block_offset<F>(at, dims);
  for (std::int64_t c = 0; c < dims; ++c) to[c * kBlockPoints<F>] = row[c];
}

// Point `at` of the blocks as a row.
template <class F>
void get_row(const F* blocks, std::int64_t dims, std::int64_t at, F* row) {
  const F* from = blocks + block_offset<F>(at, dims);
  for (std::int64_t c = 0; c < dims; ++c) row[c] = from[c * kBlockPoints<F>];
}

template <Element T>
std::vector<DistanceOf<T>> block_rows(const PreparedRows<T>& set, const std::int64_t* ids, std::int64_t count) {
  using F = DistanceOf<T>;
  const std::int64_t dims = set.view.cols;
  std::vector<F> blocks(static_cast<std::size_t>(block_count<F>(count) * kBlockPoints<F> * dims));
  std::vector<F> row(static_cast<std::size_t>(dims));
  for (std::int64_t i = 0; i < count; ++i)
    put_row(working_rows(set, ids[i], 1, row.data()).data, dims, i, blocks.data());
  return blocks;
}

}  // namespace kith::cpu
