#include "cuda/triangle/windows_kernels.cuh"

namespace kith::KITH_BACKEND {

template <>
void search_windows(const Level2<double>& work, unsigned warps, cudaStream_t stream) {
  launch_any_windows(work, warps, stream);
}

template <>
void store_windows(const Level2<double>& work, const Survivors<double>& survivors, cudaStream_t stream) {
  launch_store_windows(work, survivors, stream);
}

}  // namespace kith::KITH_BACKEND
