#include "cuda/functions.hpp"
#include "cuda/runtime/properties.hpp"

namespace kith::KITH_BACKEND {

namespace {

// Whether this build has code for the device, without waking it. Machine code runs on its own generation alone.
bool usable(int device) {
#if defined(__CUDA_ARCH_LIST__)
  int major = 0;
  int minor = 0;
  KITH_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  KITH_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  for (const int architecture : {__CUDA_ARCH_LIST__})
    if (architecture / 100 == major && architecture / 10 % 10 <= minor) return true;
  return false;
#else
  return device >= 0;
#endif
}

}  // namespace

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  int current = 0;
  KITH_CUDA(cudaGetDevice(&current));
  return count > 0 && usable(current) ? count : 0;
}

std::vector<Device> device_list() {
  std::vector<Device> list;
  for (const DeviceProperties& found : devices()) {
    Device device;
    device.id = found.id;
    device.name = found.name;
    device.compute_major = found.hardware.compute_major;
    device.compute_minor = found.hardware.compute_minor;
    device.multiprocessors = static_cast<int>(found.hardware.multiprocessors);
    device.memory_bytes = static_cast<std::int64_t>(found.memory);
    device.free_bytes = static_cast<std::int64_t>(found.free_memory);
    device.policy = core::limits_of(core::policy_for(found.hardware));
    list.push_back(std::move(device));
  }
  return list;
}

}  // namespace kith::KITH_BACKEND
