#include "cuda/triangle/papers/sweet_knn_kernels.cuh"

namespace kith::KITH_BACKEND::triangle {

template void run_paper(const SweetKnnWork<double>&, unsigned, cudaStream_t);

}  // namespace kith::KITH_BACKEND::triangle
