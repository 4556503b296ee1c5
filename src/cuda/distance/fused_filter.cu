// fused_filter.cu: the fused filter with a list a query: register_tiled.cuh computes scores, and fused_filter_tile.cuh
// tests them.
// Cost    estimated, in float, expanded, for a thread and a tile: that of register_tiled.cuh, 128 operations to finish
//         scores and 128 comparisons. At d = 16 about 2800 instructions, 0.73 of them the product's; at d = 32 about
//         5000, 0.82. The other forms need two operations a coordinate and finish nothing.
// Limits  capacity and ids below 2^32.
#include "cuda/distance/fused_filter_kernel.cuh"

namespace kith::KITH_BACKEND::distance {

template void fused_filter(const FilterCall<float>&);
template void fused_filter(const FilterCall<double>&);

}  // namespace kith::KITH_BACKEND::distance
