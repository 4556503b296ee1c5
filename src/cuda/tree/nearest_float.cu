// nearest_float.cu: nearest.cuh for points in float.
#include "cuda/tree/nearest.cuh"

namespace kith::KITH_BACKEND::tree {

template void find_nearest(const NearestCall<float>&, cudaStream_t);

}  // namespace kith::KITH_BACKEND::tree
