// byte_scores.hpp: scores of points of bytes by products of integers, which have no error.
// With base bytes z in −128 … 127 and query bytes u in 0 … 255 (uint8 and int8 differ by one bit from either),
//   ‖x − y‖² = Σ(u − 128)² + Σ z(z + 256) − 2 Σ uz, and
//   −⟨x,y⟩   = −128 Σ u − Σ uz (uint8) or 128 Σ z − Σ uz (int8):
// a number of the query, one of the row and a sum of products of unsigned and signed bytes, as CPUs multiply them.
#pragma once

#include <cstdint>

#include "core/sizes.hpp"
#include "cpu/simd/kernels.hpp"

namespace kith::cpu {

// How many coordinates a lane of 32 bits has: two in 16 bits each, which any CPU multiplies, or four bytes.
enum class ByteLayout { pairs, quads };

// The faster of those that this CPU has; quads need AVX-512 with VNNI.
ByteLayout best_byte_layout();

// Whether pairs are multiplied by an instruction for them, and not by several.
bool has_pair_products();

constexpr std::int64_t byte_group(ByteLayout layout) {
  return layout == ByteLayout::quads ? 4 : 2;
}

// Rows of `dims` contiguous bytes.
struct ByteRows {
  const std::uint8_t* data;
  std::int64_t count;
  std::int64_t stride;
  bool is_signed;
};

// What scores are made of: squared differences, else negated products.
struct ByteForm {
  ByteLayout layout;
  bool squared;
  std::int64_t dims;  // at most core::kMostByteDims

  // Lanes of a row.
  std::int64_t groups() const { return (dims + byte_group(layout) - 1) / byte_group(layout); }
};

// Rows of groups() lanes; what is added to the scores of each; and byte_sum_floor() of their limits.
struct ByteQueries {
  const std::uint32_t* lanes;
  const std::int32_t* bias;
  const std::int32_t* floors;
  std::int64_t count;
};

// As TiledBase: padded(count) * groups() lanes, and padded(count) values that are added to the scores of their rows.
struct BytePanels {
  const std::uint32_t* lanes;
  const std::int32_t* bias;
  std::int64_t count;
};

void pack_byte_queries(const ByteForm& form, const ByteRows& queries, std::uint32_t* lanes, std::int32_t* bias);
void pack_byte_panels(const ByteForm& form, const ByteRows& base, std::uint32_t* lanes, std::int32_t* bias);

// A bound of the sums in registers (see block_scores) for a query with this bias: up to it, no score is below the
// limit.
std::int32_t byte_sum_floor(bool squared, float limit, std::int32_t bias);

// As register_tiled_scores(), with blocks of tiled_block_rows<float>() rows. Scores are rounded once, to float.
std::int64_t byte_scores(const ByteForm& form, const ByteQueries& queries, const BytePanels& base,
                         const TiledOutput<float>& out);

}  // namespace kith::cpu
