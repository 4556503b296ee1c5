// fp16_certificate.hpp: certificates of queries (candidates.hpp) for scores of points in fp16, whose rounding errors
// were measured.
#pragma once

#include "core/score_bounds.hpp"
#include "cuda/brute/candidates.hpp"
#include "cuda/points/fp16_store.hpp"

namespace kith::KITH_BACKEND::brute {

struct Fp16Certificate {
  core::ScoreBounds<float> bounds;  // from keys to true scores; `fp16` has the errors
  core::Fp16Bounds fp16;            // with remainders or without, as the scores
  const float* keys = nullptr;      // the lists, sorted rows of k
  std::int64_t k = 0;
  const float* left_out = nullptr;
  Fp16Rows queries;
  const Fp16MaxNorms* max_norms = nullptr;  // of the base
};

// Appends the queries whose lists may be wrong, of at least one.
void certify_fp16(const Fp16Certificate& certificate, const FailedQueries& failed, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::brute
