// launch.cu: the opt-in to more than 48 KiB of dynamic shared memory, once for each kernel and device.
#include "cuda/runtime/launch.cuh"

#include <mutex>
#include <set>
#include <utility>

namespace kith::KITH_BACKEND::inline runtime {

void allow_dynamic_shared(const void* kernel, const char* name) {
  static std::mutex mutex;
  static std::set<std::pair<const void*, int>> allowed;
  int device = 0;
  KITH_CUDA(cudaGetDevice(&device));
  const std::lock_guard lock(mutex);
  if (allowed.contains({kernel, device})) return;
  int most = 0;
  KITH_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  cudaFuncAttributes found{};
  check(cudaFuncGetAttributes(&found, kernel), name);
  const int bytes = most - static_cast<int>(found.sharedSizeBytes);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), name,
        static_cast<std::size_t>(bytes));
  allowed.emplace(kernel, device);
}

}  // namespace kith::KITH_BACKEND::inline runtime
