// fused_candidates.hpp: the best scores of each query in a tile, without a matrix of scores.
// Idea    scores to a sample, every step-th base point, give each query a limit that slightly more than `width` points
//         of the tile do not exceed; one fused pass over the tile (distance/fused_filter.hpp) collects these, and the
//         best of them are selected.
// Cost    the pass, the scores of the sample, and candidates written and read once.
#pragma once

#include "cuda/distance/scores.hpp"
#include "cuda/points/fp16_rows.hpp"
#include "kith/options.hpp"

namespace kith::KITH_BACKEND::brute {

// Rows of values and columns of a tile, sorted by (value, column); memory of the workspace.
template <class F>
struct BestRows {
  F* values = nullptr;
  std::int64_t* columns = nullptr;
};

// How many candidates a query gets, and the method that selects them.
struct FusedWidth {
  std::int64_t width = 1;
  SelectMethod select;
};

// `call` describes the scores; its matrix is not used. A query whose limit let too few or too many points pass gets
// meaningless candidates and left_out[q] = −infinity, with which no certificate holds.
template <class F>
BestRows<F> fused_candidates(const distance::ScoreCall<F>& call, const FusedWidth& wanted, F* left_out);
BestRows<float> fused_candidates(const distance::Fp16ScoreCall& call, const FusedWidth& wanted, float* left_out);

}  // namespace kith::KITH_BACKEND::brute
