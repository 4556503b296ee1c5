// properties.cpp: hardware properties, as the driver reports them.
#include "cuda/runtime/properties.hpp"

#include <array>
#include <atomic>

namespace kith::KITH_BACKEND::inline runtime {

std::vector<DeviceProperties> devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  int current = 0;
  KITH_CUDA(cudaGetDevice(&current));
  std::vector<DeviceProperties> all;
  for (int id = 0; id < count; ++id) {
    cudaDeviceProp found{};
    KITH_CUDA(cudaGetDeviceProperties(&found, id));
    DeviceProperties device;
    device.id = id;
    device.name = found.name;
    device.major = found.major;
    device.minor = found.minor;
    device.multiprocessors = static_cast<unsigned>(found.multiProcessorCount);
    device.l2_bytes = static_cast<std::size_t>(found.l2CacheSize);
    device.shared_bytes = found.sharedMemPerBlockOptin;
    device.memory = found.totalGlobalMem;
    // A device in exclusive use by another process does not report its memory.
    if (cudaSetDevice(id) != cudaSuccess || cudaMemGetInfo(&device.free_memory, &device.memory) != cudaSuccess)
      cudaGetLastError();
    KITH_CUDA(cudaSetDevice(current));
    all.push_back(device);
  }
  return all;
}

unsigned multiprocessor_count() {
  constexpr int kMaxCached = 64;
  static std::array<std::atomic<unsigned>, kMaxCached> counts{};
  int device = 0;
  KITH_CUDA(cudaGetDevice(&device));
  if (device < kMaxCached && counts[static_cast<std::size_t>(device)] > 0)
    return counts[static_cast<std::size_t>(device)];
  int count = 0;
  KITH_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  if (device < kMaxCached) counts[static_cast<std::size_t>(device)] = static_cast<unsigned>(count);
  return static_cast<unsigned>(count);
}

std::string device_name() {
  int device = 0;
  KITH_CUDA(cudaGetDevice(&device));
  cudaDeviceProp found{};
  KITH_CUDA(cudaGetDeviceProperties(&found, device));
  return found.name;
}

}  // namespace kith::KITH_BACKEND::inline runtime
