// fused_filter.cu: scores that are not above their query's limit, and no others (register_tiled.cuh computes them, and
// filter_tile.cuh looks at them).
// Cost    estimated, in float, expanded, for a thread and a tile: beside what register_tiled.cuh says, 128 operations
// to
//         finish scores and 128 comparisons. At d = 16 about 2800 instructions, 0.73 of them the product's; at d = 32
//         about 5000, 0.82. The other forms need two operations a coordinate and finish nothing.
// Limits  room and ids below 2^32.
#include "cuda/distance/fused_filter_kernel.cuh"

namespace kith::KITH_BACKEND::distance {

template void fused_filter(const FilterCall<float>&);
template void fused_filter(const FilterCall<double>&);

}  // namespace kith::KITH_BACKEND::distance
