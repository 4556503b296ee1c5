#include "cuda/triangle/interval_scan_kernels.cuh"

namespace kith::KITH_BACKEND::triangle {

template void search_windows(const Level2<float>&, unsigned, cudaStream_t);
template void store_windows(const Level2<float>&, const Survivors<float>&, cudaStream_t);

}  // namespace kith::KITH_BACKEND::triangle
