// properties.cpp: hardware properties, as the driver reports them.
#include "cuda/runtime/properties.hpp"

#include <array>
#include <optional>
#include <string>

#include "cuda/runtime/least_shared.hpp"
#include "cuda/runtime/made_once.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::inline runtime {
namespace {

// A build for other architectures alone leaves cuda/tensor/ out.
#if defined(KITH_HAS_SM_90_KERNELS) || defined(KITH_IS_EMULATED)
constexpr bool kHasSm90Kernels = true;
#else
constexpr bool kHasSm90Kernels = false;
#endif

core::DeviceHardware hardware_of(const cudaDeviceProp& found) {
  return {.compute_major = found.major,
          .compute_minor = found.minor,
          .multiprocessors = found.multiProcessorCount,
          .shared_per_block = static_cast<std::int64_t>(found.sharedMemPerBlockOptin),
          .shared_per_multiprocessor = static_cast<std::int64_t>(found.sharedMemPerMultiprocessor),
          .registers_per_multiprocessor = found.regsPerMultiprocessor,
          .threads_per_multiprocessor = found.maxThreadsPerMultiProcessor,
          .l2_bytes = found.l2CacheSize,
          .has_sm_90_kernels = kHasSm90Kernels};
}

// What the driver says of the current device and does not change. Some of it, clocks above all, takes the driver about
// as long as a small search.
template <class T>
class OfEachDevice {
 public:
  // make(value, device) is called once for a device, and after an exception again.
  template <class Make>
  const T& get(Make make) {
    int device = 0;
    KITH_CUDA(cudaGetDevice(&device));
    const auto slot = static_cast<std::size_t>(device);
    if (slot >= made_.size()) throw Error(ErrorCode::internal, "more devices than are told apart");
    return made_[slot].get([&](std::optional<T>& value) { make(value, device); });
  }

 private:
  static constexpr std::size_t kMaxDevices = 256;
  std::array<MadeOnce<T>, kMaxDevices> made_;
};

}  // namespace

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
    device.hardware = hardware_of(found);
    device.memory = found.totalGlobalMem;
    // A device in exclusive use by another process does not report its memory.
    if (cudaSetDevice(id) != cudaSuccess || cudaMemGetInfo(&device.free_memory, &device.memory) != cudaSuccess)
      cudaGetLastError();
    KITH_CUDA(cudaSetDevice(current));
    all.push_back(device);
  }
  return all;
}

const core::DevicePolicy& device_policy() {
  static OfEachDevice<core::DevicePolicy> policies;
  return policies.get([](std::optional<core::DevicePolicy>& policy, int device) {
    cudaDeviceProp found{};
    KITH_CUDA(cudaGetDeviceProperties(&found, device));
    if (found.sharedMemPerBlockOptin < kLeastShared)
      throw Error(ErrorCode::no_device, "device " + std::to_string(device) + ", " + found.name + ", has " +
                                            std::to_string(found.sharedMemPerBlockOptin) +
                                            " bytes of shared memory for a block; kernels need " +
                                            std::to_string(kLeastShared));
    policy = core::policy_for(hardware_of(found));
  });
}

unsigned multiprocessor_count() {
  return static_cast<unsigned>(device_policy().hardware.multiprocessors);
}

const DeviceSpeed& device_speed() {
  static OfEachDevice<DeviceSpeed> speeds;
  return speeds.get([](std::optional<DeviceSpeed>& speed, int device) {
    constexpr double kHertz = 1e3;   // clocks are told in kilohertz
    constexpr double kPerClock = 2;  // memory moves data on both edges
    constexpr double kBitsOfByte = 8;
    const auto ask = [&](cudaDeviceAttr attribute) {
      int value = 0;
      if (cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess) return static_cast<double>(value);
      cudaGetLastError();
      return 0.0;
    };
    speed = {kHertz * ask(cudaDevAttrClockRate),
             kHertz * kPerClock * ask(cudaDevAttrMemoryClockRate) * ask(cudaDevAttrGlobalMemoryBusWidth) / kBitsOfByte};
  });
}

const std::string& device_name() {
  static OfEachDevice<std::string> names;
  return names.get([](std::optional<std::string>& name, int device) {
    cudaDeviceProp found{};
    KITH_CUDA(cudaGetDeviceProperties(&found, device));
    name = found.name;
  });
}

}  // namespace kith::KITH_BACKEND::inline runtime
