// wanted_bias.hpp: scores that leave out points which nobody wants.
// Idea    the bias of such a point is infinite, and so is its score, whatever the product: it passes no finite limit,
// in
//         the sample as little as among all points. So limits are those of the wanted points, and what a pass proves it
//         proves of them.
// Cost    a bit and a float read, and a float written, for each point: less than a hundredth of the first pass.
// Limits  where fewer are wanted than a sample has to find, its limit is infinite and such points may be found.
#pragma once

#include <cstdint>

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::brute {

struct WantedBias {
  const float* bias;       // one a point; null: all are 0
  const unsigned* wanted;  // bit i % 32 of word i / 32 for point i of all
  std::int64_t first = 0;  // of `count` points
  std::int64_t count = 0;
};

void bias_of_wanted(const WantedBias& points, float* out, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::brute
