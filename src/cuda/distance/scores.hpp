// scores.hpp: the distance stages. Each fills a tile of the distance matrix with scores: the sum of a metric, in
// working precision and in any order of the coordinates, without the metric's last step (core/score_bounds.hpp bounds
// their errors). All enqueue their work on the workspace's stream and do not wait.
//
//   form               score of query x and base point y
//   squared            Σ(x−y)²; expanded: bias(y) − 2⟨x,y⟩, where bias(y) is ‖y‖²
//   absolute, maximum  Σ|x−y|, max|x−y|
//   power              Σ|x−y|^p
//   mismatch           the number of coordinates that differ
//   ratio              Σ|x−y| / (|x|+|y|)
//   dot                −⟨x,y⟩
#pragma once

#include "core/key.hpp"
#include "cuda/points/fp16_rows.hpp"
#include "cuda/points/point_rows.hpp"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::distance {

// Rows of scores should lie a multiple of so many values apart: they then start at cache lines, and are stored faster.
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

// For one query or a few: a group of lanes a base point, without shared memory.
template <class F>
void direct_scores(const ScoreCall<F>& call);

// For dozens of queries: tiles of points in shared memory, 2 × 2 pairs a thread.
template <class F>
void tiled_scores(const ScoreCall<F>& call);

// For many queries: a matrix product with other operators, 16 × 8 pairs a thread in registers, 8 × 4 in double.
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

// −⟨x,y⟩, or ‖y‖² − 2⟨x,y⟩, of the centered points, by one matrix product in fp16 with sums in float.
void fp16_gemm_scores(const Fp16ScoreCall& call);

}  // namespace kith::KITH_BACKEND::distance
