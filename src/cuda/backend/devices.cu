#include "cuda/backend/backend.hpp"
#include "cuda/runtime/properties.hpp"

namespace kith::KITH_BACKEND {

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

std::vector<Device> device_list() {
  std::vector<Device> list;
  for (const DeviceProperties& found : devices()) {
    Device device;
    device.id = found.id;
    device.name = found.name;
    device.compute_major = found.major;
    device.compute_minor = found.minor;
    device.multiprocessors = static_cast<int>(found.processors);
    device.memory_bytes = static_cast<std::int64_t>(found.memory);
    device.free_bytes = static_cast<std::int64_t>(found.free_memory);
    list.push_back(std::move(device));
  }
  return list;
}

}  // namespace kith::KITH_BACKEND
