// fused_pair_filter.cu: filter.cu for candidates of all queries in one list.
#include "cuda/distance/fused_filter_kernel.cuh"

namespace kith::KITH_BACKEND::distance {

template void fused_filter(const FilterCall<float, PairList<float>>&);
template void fused_filter(const FilterCall<double, PairList<double>>&);

}  // namespace kith::KITH_BACKEND::distance
