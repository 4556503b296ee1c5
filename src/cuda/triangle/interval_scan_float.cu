// interval_scan_float.cu: interval_scan_kernels.cuh for points in float.
#include "cuda/triangle/interval_scan_kernels.cuh"

namespace kith::KITH_BACKEND::triangle {

template void interval_scan(const QueryBatch<float>&, unsigned, cudaStream_t);
template void store_interval_scan(const QueryBatch<float>&, const Survivors<float>&, cudaStream_t);

}  // namespace kith::KITH_BACKEND::triangle
