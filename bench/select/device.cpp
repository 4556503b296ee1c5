#include "device.hpp"

#include "cuda/runtime/properties.hpp"

namespace kith::select_bench {

std::optional<DeviceFacts> device_facts() {
  const auto devices = cuda::devices();
  if (devices.empty()) return std::nullopt;
  const cuda::DeviceProperties& device = devices.front();
  DeviceFacts facts;
  facts.name = device.name;
  facts.compute_capability = std::to_string(device.major) + "." + std::to_string(device.minor);
  facts.processors = device.multiprocessors;
  facts.memory_bytes = device.memory;
  facts.l2_bytes = device.l2_bytes;
  KITH_CUDA(cudaDriverGetVersion(&facts.cuda_driver));
  KITH_CUDA(cudaRuntimeGetVersion(&facts.cuda_runtime));
  return facts;
}

}  // namespace kith::select_bench
