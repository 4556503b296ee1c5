// sweet_knn_float.cu: sweet_knn_kernels.cuh for points in float.
#include "cuda/triangle/papers/sweet_knn_kernels.cuh"

namespace kith::KITH_BACKEND::triangle {

template void run_sweet_knn(const SweetKnnCall<float>&, unsigned, cudaStream_t);

}  // namespace kith::KITH_BACKEND::triangle
