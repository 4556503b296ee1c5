// sweet_knn_double.cu: sweet_knn_kernels.cuh for points in double.
#include "cuda/triangle/papers/sweet_knn_kernels.cuh"

namespace kith::KITH_BACKEND::triangle {

template void run_sweet_knn(const SweetKnnCall<double>&, unsigned, cudaStream_t);

}  // namespace kith::KITH_BACKEND::triangle
