// Rows of packed bits for tests, and the plain search that answers are compared with.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kith/bits.hpp"

namespace kith::test {

struct BitRowsOptions {
  std::int64_t rows = 1;
  std::int64_t bits = 1;
  std::int64_t extra_stride = 0;  // bytes between rows, which are not zero
  std::int64_t offset = 0;        // bytes before the first row
  double density = 0.5;           // of bits that are set
  std::int64_t distinct = 0;      // rows repeat after so many; 0: never
  std::uint64_t seed = 1;
};

// Bytes that hold rows, with noise wherever no row is.
struct PackedRows {
  BitRowsOptions made;
  std::vector<std::uint8_t> bytes;

  BitsView view() const {
    return {bytes.data() + made.offset, made.rows, made.bits, bit_bytes(made.bits) + made.extra_stride};
  }
  bool bit(std::int64_t row, std::int64_t at) const { return (view().row(row)[at / 8] >> (7 - at % 8) & 1) != 0; }
};

PackedRows make_rows(const BitRowsOptions& options);

// The same rows, a byte for each bit.
std::vector<std::uint8_t> unpacked(const PackedRows& rows);

// The distance by its definition, bit after bit.
float true_distance(BitMetric metric, const PackedRows& a, std::int64_t i, const PackedRows& b, std::int64_t j);

// All rows of the base by (distance, id), but for the query itself where `self` is set.
std::vector<std::pair<float, std::int64_t>> all_by_distance(BitMetric metric, const PackedRows& base,
                                                            const PackedRows& queries, std::int64_t query, bool self);

// Whether each row of the answer is the beginning of that list, and marked places follow where it is shorter or where
// distances are larger than `largest`.
testing::AssertionResult is_exact(const BitNeighbors& found, BitMetric metric, const PackedRows& base,
                                  const PackedRows& queries, bool self = false,
                                  float largest = std::numeric_limits<float>::infinity());

testing::AssertionResult is_exact(const BitRadiusNeighbors& found, BitMetric metric, const PackedRows& base,
                                  const PackedRows& queries, const std::vector<float>& radii, bool self = false);

// As on_every_target() of cpu/simd_targets.hpp, with the one that only kernels of bits have. Returns how many there
// were.
int on_every_bit_target(const std::function<void()>& check);

}  // namespace kith::test
