// bf16_scores.hpp: scores by products of points rounded to bfloat16, of which an instruction has twice as many as of
// floats. Products of two are exact in float, and so are doubled queries; core::ScoreBounds knows what rounding costs.
#pragma once

#include <cstdint>

#include "cpu/simd/kernels.hpp"

namespace kith::cpu {

// Whether this CPU has the instruction (AVX512-BF16). Others compute the same in several.
bool has_bf16_products();

// A lane of 32 bits has two coordinates.
constexpr std::int64_t bf16_pairs(std::int64_t dims) {
  return (dims + 1) / 2;
}

struct Bf16Queries {
  const std::uint32_t* lanes;  // bf16_pairs() of each
  std::int64_t count;
};

// As TiledBase: padded(count) * bf16_pairs() lanes, and null or padded(count) values that are added to scores.
struct Bf16Panels {
  const std::uint32_t* lanes;
  const float* bias;
  std::int64_t count;
};

// Coordinates are rounded to the nearest, and to zero where that would be subnormal.
void pack_bf16_queries(Rows<float> queries, std::int64_t dims, std::uint32_t* lanes);
void pack_bf16_panels(Rows<float> base, std::int64_t dims, std::uint32_t* lanes);

// As register_tiled_scores(), with blocks of tiled_block_rows<float>() rows: the bias less the product.
std::int64_t bf16_scores(const Bf16Queries& queries, const Bf16Panels& base, std::int64_t dims,
                         const TiledOutput<float>& out);

}  // namespace kith::cpu
