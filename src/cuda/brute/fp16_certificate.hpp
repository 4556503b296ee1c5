// fp16_certificate.hpp: the proof of candidates.hpp for scores of points rounded to half, whose error was measured.
#pragma once

#include "core/score_bounds.hpp"
#include "cuda/points/fp16_store.hpp"

namespace kith::KITH_BACKEND::brute {

// Every point that was left out must be provably farther than the k-th neighbor.
struct Fp16Certificate {
  core::ScoreBounds<float> bounds;  // from keys to true scores; errors are those of `fp16`
  core::Fp16Bounds fp16;
  const float* keys = nullptr;  // of the lists, k a query, sorted
  std::int64_t k = 0;
  const float* left_out = nullptr;
  Fp16Rows queries;
  const Fp16MaxNorms* max_squared_norm = nullptr;  // of the base
};

// Appends to `failed` the queries whose lists may be wrong; *failed_count starts at 0.
void certify_fp16(const Fp16Certificate& certificate, unsigned* failed, unsigned* failed_count, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::brute
