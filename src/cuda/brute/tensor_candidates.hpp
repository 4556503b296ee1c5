// tensor_candidates.hpp: the candidates of each query in a tile, by products of tensor cores (cuda/tensor/).
// Idea    a limit for each query, from a sample of the tile or given; one pass lists the points that do not exceed it.
//         Of the sample only the best scores of groups of points are stored: the limit is the rank-th of these, which
//         is not below the rank-th score, and seldom far above it, since there are many times as many groups.
// Cost    the pass, the fraction of it that the sample is, and candidates written once.
#pragma once

#include "core/sample_plan.hpp"
#include "cuda/runtime/workspace.hpp"
#include "cuda/tensor/tensor_filter.hpp"
#include "kith/options.hpp"

namespace kith::KITH_BACKEND::brute {

struct TensorCandidatesCall {
  tensor::TensorProduct product;
  core::SamplePlan sample;        // rank 0: everything passes
  const float* limits = nullptr;  // one a query, instead of those of a sample
  std::int64_t capacity = 0;      // of a query's list
  SelectMethod select = SelectMethod::automatic;
  Workspace& workspace;
  bool mirrored = false;  // queries and base are the same points
};

// The lists are memory of the workspace.
distance::CandidateLists<float> tensor_candidates(const TensorCandidatesCall& call);

}  // namespace kith::KITH_BACKEND::brute
