#include "cuda/triangle/paper_kernels.cuh"

namespace kith::KITH_BACKEND {

template void run_paper(const PaperWork<float>&, unsigned, cudaStream_t);

}  // namespace kith::KITH_BACKEND
