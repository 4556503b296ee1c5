// interval_scan_double.cu: interval_scan_kernels.cuh for points in double.
#include "cuda/triangle/interval_scan_kernels.cuh"

namespace kith::KITH_BACKEND::triangle {

template void interval_scan(const QueryBatch<double>&, unsigned, cudaStream_t);
template void store_interval_scan(const QueryBatch<double>&, const Survivors<double>&, cudaStream_t);

}  // namespace kith::KITH_BACKEND::triangle
