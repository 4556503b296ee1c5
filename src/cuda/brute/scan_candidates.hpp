// scan_candidates.hpp: the candidates of very few queries in a tile, at the speed of reading the tile.
// Idea    a grid that fills the device reads the rows once (scan_products.cuh). Each block keeps the `width` best
// scores
//         of its rows: what is not above the block's limit goes to a buffer, and where that might overflow, the `width`
//         smallest stay and the last of these is the new limit. So most rows are dismissed by one comparison, and no
//         data make it slower than a selection every few thousand rows. The best of all are among those of the blocks.
// Cost    reading the rows; a barrier every few KiB of a warp, while the next rows are on their way.
// Limits  core::can_scan. Scores are those of tensor_filter.hpp, without remainders, and have its errors. NaN comes
//         last.
#pragma once

#include "core/scan_plan.hpp"
#include "cuda/runtime/workspace.hpp"
#include "cuda/tensor/tensor_filter.hpp"

namespace kith::KITH_BACKEND::brute {

struct ScanCandidatesCall {
  tensor::TensorProduct product;
  std::int64_t width = 1;   // at most the number of base points
  std::int64_t blocks = 0;  // at most so many; 0: as many as fill the device
  Workspace& workspace;
};

// The lists are memory of the workspace. They are full: places of blocks with fewer than `width` rows have NaN and ids
// that no point has, which come after all candidates.
distance::CandidateLists<float> scan_candidates(const ScanCandidatesCall& call);

}  // namespace kith::KITH_BACKEND::brute
