// nearest_double.cu: nearest.cuh for points in double.
#include "cuda/tree/nearest.cuh"

namespace kith::KITH_BACKEND::tree {

template void find_nearest(const NearestCall<double>&, cudaStream_t);

}  // namespace kith::KITH_BACKEND::tree
