// bit_counts.hpp: bits that pairs of packed rows have different, or in common, for the pairs that may be near enough.
//
// Rows become words of 32 bits, zeros past their end. Those of the base lie in panels: a vector holds one word of as
// many rows as it has lanes, so that counts stay in lanes and nothing is added up across them.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/bit_key.hpp"
#include "core/facts.hpp"
#include "cpu/simd/kernels.hpp"

namespace kith::cpu {

constexpr std::int64_t bit_words(std::int64_t bits) {
  return (bits + 31) / 32;
}

// Rows of `bytes` contiguous bytes, `stride` apart.
struct BitRows {
  const std::uint8_t* data;
  std::int64_t count;
  std::int64_t stride;
  std::int64_t bytes;

  std::int64_t words() const { return (bytes + 3) / 4; }
};

// Word `word` of a row, zeros past its end. The order of bits does not matter to counts.
inline std::uint32_t bit_word(const std::uint8_t* row, std::int64_t bytes, std::int64_t word) {
  std::uint32_t value = 0;
  // Of a size that is known, a copy is one instruction.
  if (4 * word + 4 <= bytes) {
    std::memcpy(&value, row + 4 * word, 4);
  } else {
    std::memcpy(&value, row + 4 * word, static_cast<std::size_t>(bytes - 4 * word));
  }
  return value;
}

// A pair that passed the test: a query, a row of the panels, and the bits that differ or that both have.
struct BitHit {
  std::uint32_t query;
  std::uint32_t row;
  std::int32_t count;
};
static_assert(sizeof(BitHit) == core::kBitHitBytes);

// Rows of words, one after the other.
struct BitQueries {
  const std::uint32_t* words;
  std::int64_t count;
  std::int64_t words_each;
};

// padded(count) * words_each words, and for common_bits() the bits of each of padded(count) rows.
struct BitPanels {
  const std::uint32_t* words;
  const float* populations;
  std::int64_t count;
};

// What a pair of 32 bits and the rest of a pair take on this CPU, in seconds of one thread.
core::StageCost bit_cost();
// The instruction set that counts, as Highway calls it.
const char* bit_target();

void pack_bit_queries(const BitRows& rows, std::uint32_t* words);
// `populations` is null, or has room for padded(count) numbers.
void pack_bit_panels(const BitRows& rows, std::uint32_t* words, float* populations);
std::int64_t population(const std::uint32_t* words, std::int64_t count);

// Appends all pairs with fewer differing bits than the query's limit, those of a query by ascending rows; hits has room
// for all pairs. Returns how many there are.
std::int64_t differing_bits(const BitQueries& queries, const BitPanels& base, const std::int32_t* limits, BitHit* hits);
// The same for pairs with common ≥ slope · population + floor, in float.
std::int64_t common_bits(const BitQueries& queries, const BitPanels& base, const core::JaccardLimit* limits,
                         BitHit* hits);

}  // namespace kith::cpu
