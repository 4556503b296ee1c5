// fused_candidates.hpp: the best scores of each query without a matrix of scores.
// Every so-many-th base point is a sample. The scores of the queries to it give each of them a limit that a little more
// than `width` points of the tile should not pass; one fused pass over the tile collects those, and the best of them
// are selected. Cost beside the pass: the sample's share of it, and candidates written and read once.
#pragma once

#include <string_view>

#include "cuda/distance/scores.hpp"
#include "cuda/points/fp16_rows.hpp"

namespace kith::KITH_BACKEND::brute {

// `width` scores and places in the tile a query, sorted by (score, place). Taken from the workspace.
template <class F>
struct FusedBest {
  F* scores = nullptr;
  std::int64_t* places = nullptr;
};

// How many are wanted, and how they are selected.
struct FusedWidth {
  std::int64_t width = 1;
  std::string_view select;
};

// `call` says what would be computed; its matrix is not used. A query whose limit let too few or too many pass gets
// left_out[q] = −infinity, which no certificate survives, and candidates that mean nothing.
template <class F>
FusedBest<F> fused_candidates(const distance::ScoreCall<F>& call, const FusedWidth& wanted, F* left_out);
FusedBest<float> fused_candidates(const distance::Fp16ScoreCall& call, const FusedWidth& wanted, float* left_out);

}  // namespace kith::KITH_BACKEND::brute
