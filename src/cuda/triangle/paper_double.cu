#include "cuda/triangle/paper_kernels.cuh"

namespace kith::KITH_BACKEND {

template void run_paper(const PaperWork<double>&, unsigned, cudaStream_t);

}  // namespace kith::KITH_BACKEND
