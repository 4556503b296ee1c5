#include "core/device_code.hpp"
#include "cuda/functions.hpp"
#include "cuda/runtime/properties.hpp"

namespace kith::KITH_BACKEND {

namespace {

#if defined(KITH_IS_EMULATED)
// The host's code runs whatever device is emulated, as PTX would.
constexpr const char* kMachineCode = "";
constexpr const char* kPtx = "80";
#else
constexpr const char* kMachineCode = KITH_CUDA_MACHINE_CODE;
constexpr const char* kPtx = KITH_CUDA_PTX;
#endif

std::string problem_of(const std::string& name, const core::Capability& capability) {
  return core::why_unusable(name, capability, core::parse_device_code(kMachineCode, kPtx));
}

// By attributes: they do not wake the device.
core::Capability capability_of(int device) {
  core::Capability capability;
  KITH_CUDA(cudaDeviceGetAttribute(&capability.major, cudaDevAttrComputeCapabilityMajor, device));
  KITH_CUDA(cudaDeviceGetAttribute(&capability.minor, cudaDevAttrComputeCapabilityMinor, device));
  return capability;
}

core::Capability current_capability() {
  int device = 0;
  KITH_CUDA(cudaGetDevice(&device));
  return capability_of(device);
}

// Empty where there is no driver at all.
std::string driver_problem() {
  int driver = 0;
  int runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || cudaRuntimeGetVersion(&runtime) != cudaSuccess || driver == 0)
    return {};
  return core::why_driver_unusable(driver, runtime);
}

}  // namespace

DevicePresence find_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    return {false, error == cudaErrorInsufficientDriver ? driver_problem() : ""};
  }
  if (count == 0) return {};
  // The name is asked for where it is told alone: that takes a while.
  const core::Capability capability = current_capability();
  if (problem_of("", capability).empty()) return {true, ""};
  return {false, problem_of(device_name(), capability)};
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
    device.problem = problem_of(device.name, {device.compute_major, device.compute_minor});
    list.push_back(std::move(device));
  }
  return list;
}

std::vector<int> usable_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  std::vector<int> usable;
  for (int id = 0; id < count; ++id)
    if (problem_of("", capability_of(id)).empty()) usable.push_back(id);
  return usable;
}

}  // namespace kith::KITH_BACKEND
