#include "cuda/triangle/paper_kernels.cuh"

namespace kith::KITH_BACKEND {

template <>
void run_paper(const PaperWork<double>& work, unsigned threads, cudaStream_t stream) {
  launch_paper(work, threads, stream);
}

}  // namespace kith::KITH_BACKEND
