// device.cpp: devices, versions, limits and errors.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "block.hpp"
#include "chip.hpp"
#include "random.hpp"
#include "state.hpp"

namespace emulator {

namespace {

thread_local int chosen_device = 0;
thread_local cudaError_t last_error = cudaSuccess;
thread_local std::string error_text;

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

const bool seeded = [] {
  random_source.seed(environment("KITH_EMULATOR_SEED", 1));
  return true;
}();

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "driver version is insufficient for runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"}};

const ErrorText& find(cudaError_t error) {
  const auto* found = std::find_if(std::begin(kErrors), std::end(kErrors), [=](auto& e) { return e.error == error; });
  return found == std::end(kErrors) ? *(std::end(kErrors) - 1) : *found;
}

constexpr int kRegisters = 65536;
constexpr int kVersion = 13000;

}  // namespace

std::recursive_mutex& lock() {
  static std::recursive_mutex& instance = *new std::recursive_mutex;
  return instance;
}

int device_count() {
  static const auto count = static_cast<int>(std::clamp<std::uint64_t>(environment("KITH_EMULATOR_DEVICES", 1), 0, 64));
  return count;
}

std::size_t device_memory() {
  static const std::size_t bytes = environment("KITH_EMULATOR_MEMORY", std::uint64_t{16} << 30U);
  return bytes;
}

bool takes_foreign_memory() {
  static const bool takes = environment("KITH_EMULATOR_FOREIGN_MEMORY", 0) != 0;
  return takes;
}

int current_device() {
  return chosen_device;
}

cudaError_t report(cudaError_t error) {
  if (!last_failure().empty()) return cudaErrorLaunchFailure;
  if (error != cudaSuccess) last_error = error;
  return error;
}

void set_seed(std::uint64_t seed) {
  const Guard guard(lock());
  random_source.seed(seed);
}

namespace cuda {

const char* cudaGetErrorName(cudaError_t error) {
  return find(error).name;
}

const char* cudaGetErrorString(cudaError_t error) {
  if (error != cudaErrorLaunchFailure) return find(error).text;
  error_text = std::string(find(error).text) + ": " + last_failure();
  return error_text.c_str();
}

// The failure of a kernel is sticky, as on a device.
cudaError_t cudaPeekAtLastError() {
  return last_failure().empty() ? last_error : cudaErrorLaunchFailure;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = device_count();
  return report(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
  *device = current_device();
  return report(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= device_count()) return report(cudaErrorInvalidDevice);
  chosen_device = device;
  return report(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= device_count()) return report(cudaErrorInvalidDevice);
  const Chip& is = chip();
  *properties = {.name = "",
                 .totalGlobalMem = device_memory(),
                 .sharedMemPerBlock = kStaticShared,
                 .sharedMemPerBlockOptin = is.shared_per_block,
                 .sharedMemPerMultiprocessor = is.shared_per_multiprocessor,
                 .regsPerBlock = kRegisters,
                 .regsPerMultiprocessor = kRegisters,
                 .warpSize = warpSize,
                 .maxThreadsPerBlock = kMaxThreads,
                 .maxThreadsDim = {1024, 1024, 64},
                 .maxGridSize = {0x7FFFFFFF, 65535, 65535},
                 .maxThreadsPerMultiProcessor = is.threads_per_multiprocessor,
                 .maxBlocksPerMultiProcessor = is.blocks_per_multiprocessor,
                 .multiProcessorCount = is.multiprocessors,
                 .major = is.major,
                 .minor = is.minor,
                 .l2CacheSize = is.l2_bytes,
                 .memoryBusWidth = 64,
                 .pciBusID = 0,
                 .pciDeviceID = device};
  const std::string name = std::string("Kith emulator") + (is.capability() == 90 ? "" : std::string(" ") + is.name);
  name.copy(properties->name, sizeof properties->name - 1);
  return report(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) return error;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = properties.maxThreadsPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = static_cast<int>(properties.sharedMemPerBlock); break;
    case cudaDevAttrWarpSize: *value = properties.warpSize; break;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate: *value = 1000000; break;
    case cudaDevAttrMultiProcessorCount: *value = properties.multiProcessorCount; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = properties.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = properties.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = properties.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *value = properties.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = properties.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(properties.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(properties.sharedMemPerBlockOptin); break;
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    default: return report(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  const Guard guard(lock());
  return drain_device();
}

cudaError_t cudaDeviceReset() {
  reset();
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = kVersion;
  return report(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return cudaDriverGetVersion(version);
}

}  // namespace cuda

}  // namespace emulator
