// fused_pair_filter.cu: the fused filter with one list for all queries (fused_filter.cu has cost and limits).
#include "cuda/distance/fused_filter_kernel.cuh"

namespace kith::KITH_BACKEND::distance {

template void fused_filter(const FilterCall<float, PairList<float>>&);
template void fused_filter(const FilterCall<double, PairList<double>>&);

}  // namespace kith::KITH_BACKEND::distance
