// half_certificate.hpp: the proof of candidates.hpp for scores of points rounded to half, whose error was measured.
#pragma once

#include "core/score_bounds.hpp"
#include "cuda/search/half_store.hpp"

namespace kith::KITH_BACKEND {

// Every point that was left out must be provably farther than the k-th neighbour.
struct HalfCertificate {
  core::ScoreBounds<float> bounds;  // from keys to true scores; errors are those of `halfs`
  core::HalfBounds halfs;
  const float* keys = nullptr;  // of the lists, k a query, sorted
  std::int64_t k = 0;
  const float* left_out = nullptr;
  HalfRows queries;
  const HalfLongest* longest = nullptr;  // of the base
};

// Appends to `failed` the queries whose lists may be wrong; *failed_count starts at 0.
void certify_halfs(const HalfCertificate& certificate, unsigned* failed, unsigned* failed_count, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND
