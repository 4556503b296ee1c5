// memory.cpp: device memory is heap memory of the exact requested size, filled with values that no correct program
// reads.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "asan.hpp"
#include "block.hpp"
#include "state.hpp"

namespace emulator {

namespace {

constexpr std::size_t kAlignment = 256;

struct Allocation {
  std::size_t bytes;
  int device;  // kHost for pinned memory
};
constexpr int kHost = -1;

using Blocks = std::map<const unsigned char*, Allocation>;

Blocks& allocations() {
  static auto& instance = *new Blocks;
  return instance;
}

// Host memory that was pinned by cudaHostRegister.
Blocks& registered() {
  static auto& instance = *new Blocks;
  return instance;
}

// Of all devices. Memory counts as freed when that is enqueued, as it does for a pool of the stream.
struct Count {
  std::size_t live = 0;
  std::size_t peak = 0;
};
Count counted;

void count_allocated(std::size_t bytes) {
  counted.live += bytes;
  counted.peak = std::max(counted.peak, counted.live);
}

void count_freed(const void* address) {
  counted.live -= allocations().at(static_cast<const unsigned char*>(address)).bytes;
}

std::size_t used_on(int device) {
  std::size_t bytes = 0;
  for (const auto& [address, allocation] : allocations())
    if (allocation.device == device) bytes += allocation.bytes;
  return bytes;
}

cudaError_t allocate(void** address, std::size_t bytes, int device) {
  *address = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (device != kHost && bytes > device_memory() - used_on(device)) return cudaErrorMemoryAllocation;
  if (posix_memalign(address, kAlignment, bytes) != 0) return cudaErrorMemoryAllocation;
  std::memset(*address, kPoison, bytes);
  allocations()[static_cast<unsigned char*>(*address)] = {bytes, device};
  if (device != kHost) {
    asan::poison(*address, bytes);
    count_allocated(bytes);
  }
  return cudaSuccess;
}

bool known(const void* address, bool on_host) {
  const auto found = allocations().find(static_cast<const unsigned char*>(address));
  return found != allocations().end() && (found->second.device == kHost) == on_host;
}

void release(void* address) {
  const auto found = allocations().find(static_cast<unsigned char*>(address));
  asan::unpoison(address, found->second.bytes);
  allocations().erase(found);
  std::free(address);
}

// The allocation that contains the address, or the end.
Blocks::const_iterator find_block(const Blocks& blocks, const void* address) {
  const auto* first = static_cast<const unsigned char*>(address);
  auto found = blocks.upper_bound(first);
  if (found == blocks.begin()) return blocks.end();
  --found;
  return static_cast<std::size_t>(first - found->first) < found->second.bytes ? found : blocks.end();
}

// Whether the range lies in one allocation of device memory; null if it is in none.
const Allocation* find_device(const void* address, std::size_t bytes, bool& inside) {
  const auto found = find_block(allocations(), address);
  if (found == allocations().end() || found->second.device == kHost) return nullptr;
  const auto offset = static_cast<std::size_t>(static_cast<const unsigned char*>(address) - found->first);
  inside = bytes <= found->second.bytes - offset;
  return &found->second;
}

// Checks one side of a copy: wholly in device memory if it should be there, and outside it otherwise.
bool side_is_right(const void* address, std::size_t bytes, bool may_be_device, bool must_be_device) {
  bool inside = true;
  const bool on_device = find_device(address, bytes, inside) != nullptr;
  return inside && (on_device ? may_be_device : !must_be_device || takes_foreign_memory());
}

bool copy_is_right(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes,
                   cudaMemcpyKind kind) {
  const bool any = kind == cudaMemcpyDefault;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return side_is_right(to, to_bytes, any || to_device, to_device) &&
         side_is_right(from, from_bytes, any || from_device, from_device);
}

}  // namespace

std::size_t live_device_bytes() {
  const Guard guard(lock());
  return counted.live;
}

std::size_t peak_device_bytes() {
  const Guard guard(lock());
  return counted.peak;
}

void restart_peak() {
  const Guard guard(lock());
  counted.peak = counted.live;
}

void open_device_memory(int device) {
  if (!asan::kOn) return;
  for (const auto& [address, allocation] : allocations())
    if (allocation.device == device) asan::unpoison(address, allocation.bytes);
}

void close_device_memory() {
  if (!asan::kOn) return;
  for (const auto& [address, allocation] : allocations())
    if (allocation.device != kHost) asan::poison(address, allocation.bytes);
}

namespace cuda {

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  const Guard guard(lock());
  return report(allocate(address, bytes, current_device()));
}

cudaError_t cudaMallocAsync(void** address, std::size_t bytes, cudaStream_t /*stream*/) {
  return cudaMalloc(address, bytes);
}

cudaError_t cudaFree(void* address) {
  const Guard guard(lock());
  if (address == nullptr) return report(cudaSuccess);
  if (!known(address, false)) return report(cudaErrorInvalidValue);
  drain_device();
  count_freed(address);
  release(address);
  return report(cudaSuccess);
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  const Guard guard(lock());
  if (address == nullptr) return report(cudaSuccess);
  if (!known(address, false)) return report(cudaErrorInvalidValue);
  count_freed(address);
  return enqueue(
      stream, [=] { release(address); }, true);
}

cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
  const Guard guard(lock());
  return report(allocate(address, bytes, kHost));
}

cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned /*flags*/) {
  return cudaMallocHost(address, bytes);
}

cudaError_t cudaFreeHost(void* address) {
  const Guard guard(lock());
  if (address == nullptr) return report(cudaSuccess);
  if (!known(address, true)) return report(cudaErrorInvalidValue);
  drain_device();
  release(address);
  return report(cudaSuccess);
}

cudaError_t cudaHostRegister(void* address, std::size_t bytes, unsigned /*flags*/) {
  const Guard guard(lock());
  if (address == nullptr || bytes == 0 || find_block(registered(), address) != registered().end())
    return report(cudaErrorInvalidValue);
  registered()[static_cast<unsigned char*>(address)] = {bytes, kHost};
  return report(cudaSuccess);
}

cudaError_t cudaHostUnregister(void* address) {
  const Guard guard(lock());
  const auto found = registered().find(static_cast<unsigned char*>(address));
  if (found == registered().end()) return report(cudaErrorInvalidValue);
  drain_device();
  registered().erase(found);
  return report(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  const Guard guard(lock());
  auto* const pointer = const_cast<void*>(address);
  *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, nullptr};
  const auto found = find_block(allocations(), address);
  if (found != allocations().end() && found->second.device != kHost) {
    *attributes = {cudaMemoryTypeDevice, found->second.device, pointer, nullptr};
  } else if (found != allocations().end() || find_block(registered(), address) != registered().end()) {
    *attributes = {cudaMemoryTypeHost, current_device(), pointer, pointer};
  }
  return report(cudaSuccess);
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  const Guard guard(lock());
  *total_bytes = device_memory();
  *free_bytes = device_memory() - used_on(current_device());
  return report(cudaSuccess);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  const Guard guard(lock());
  if (width == 0 || height == 0) return report(cudaSuccess);
  const auto span = [=](std::size_t pitch) { return pitch * (height - 1) + width; };
  if (to_pitch < width || from_pitch < width || !copy_is_right(to, span(to_pitch), from, span(from_pitch), kind))
    return report(cudaErrorInvalidValue);
  return enqueue(stream, [=] {
    for (int device = 0; device < device_count(); ++device) open_device_memory(device);
    for (std::size_t row = 0; row < height; ++row)
      std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Guard guard(lock());
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  return error == cudaSuccess ? drain(nullptr) : error;
}

cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream) {
  const Guard guard(lock());
  if (bytes == 0) return report(cudaSuccess);
  if (!side_is_right(to, bytes, true, true)) return report(cudaErrorInvalidValue);
  return enqueue(stream, [=] { std::memset(to, byte, bytes); });
}

cudaError_t cudaMemset(void* to, int byte, std::size_t bytes) {
  return cudaMemsetAsync(to, byte, bytes, nullptr);
}

}  // namespace cuda

}  // namespace emulator
