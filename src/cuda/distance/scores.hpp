// scores.hpp: the distance stages. Each fills a tile of the distance matrix with scores: what the metric sums up, in
// working precision and in any order of the coordinates, without its last step (core/score_bounds.hpp says how far from
// the truth they may be). All enqueue their work on the workspace's stream and wait for nothing.
//
//   form               score of query x and base point y
//   squared            Σ(x−y)²; expanded: bias(y) − 2⟨x,y⟩, where bias(y) is ‖y‖²
//   absolute, maximum  Σ|x−y|, max|x−y|
//   power              Σ|x−y|^p
//   mismatch           how many coordinates differ
//   dot                −⟨x,y⟩
#pragma once

#include "core/key.hpp"
#include "cuda/points/fp16_rows.hpp"
#include "cuda/points/point_rows.hpp"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::distance {

// Rows of scores that lie a multiple of so many values apart start with lines of the cache, and are stored faster.
constexpr std::int64_t kRowAlignment = 32;

template <class F>
struct ScoreCall {
  PointRows<F> queries;
  PointRows<F> base;
  std::int64_t dims = 0;
  core::Form form = core::Form::squared;
  double p = 2;             // power only
  const F* bias = nullptr;  // one a base point, for form squared: expanded
  F* scores = nullptr;      // queries.count rows of base.count values
  std::int64_t score_stride = 0;
  Workspace& workspace;

  bool expanded() const { return bias != nullptr; }
  cudaStream_t stream() const { return workspace.stream(); }
};

// One thread a pair, or a group of threads for few pairs: nothing is kept, for one query or a few.
template <class F>
void direct_scores(const ScoreCall<F>& call);

// Blocks of points in shared memory, 2 × 2 pairs a thread.
template <class F>
void tiled_scores(const ScoreCall<F>& call);

// A matrix product with operators of its own: 16 × 8 pairs a thread in registers, 8 × 4 in double.
template <class F>
void register_tiled_scores(const ScoreCall<F>& call);

// Products and expanded squares by cuBLASLt in working precision; Error(invalid_argument) for the other forms.
template <class F>
void gemm_scores(const ScoreCall<F>& call);

struct Fp16ScoreCall {
  Fp16Rows queries;
  Fp16Rows base;                // of the same dimensions; its rows may lie farther apart
  const float* bias = nullptr;  // the base's square_norms: expanded squares; none: products
  float* scores = nullptr;      // queries.count rows of base.count values
  std::int64_t score_stride = 0;
  Workspace& workspace;
};

// −⟨x,y⟩, or ‖y‖² − 2⟨x,y⟩, of the points less their center, by one matrix product of fp16 with sums in float.
void fp16_gemm_scores(const Fp16ScoreCall& call);

}  // namespace kith::KITH_BACKEND::distance
