// memory.hpp: owners of device memory and of page-locked host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "cuda/runtime/spares.hpp"

namespace kith::KITH_BACKEND::inline runtime {

// Sizes of buffers are unsigned, numbers of points are not.
constexpr std::size_t as_size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

// Device memory of a stream: allocated and freed in the stream's order, without waiting for it. It may go while another
// device is current.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(std::size_t count, cudaStream_t stream) : count_(count), stream_(stream) {
    if (count == 0) return;
    const DeviceMemory memory = allocate_on_device(count * sizeof(T), stream);
    data_ = static_cast<T*>(memory.address);
    device_ = memory.device;
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() {
    if (data_ != nullptr) free_on_device({data_, device_}, count_ * sizeof(T), stream_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    std::swap(stream_, other.stream_);
    std::swap(device_, other.device_);
  }

  T* data_ = nullptr;
  std::size_t count_ = 0;
  cudaStream_t stream_ = nullptr;
  int device_ = 0;
};

// Page-locked host memory, without which asynchronous copies are synchronous.
template <class T>
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t count) : count_(count) {
    if (count == 0) return;
    void* address = nullptr;
    check(cudaMallocHost(&address, count * sizeof(T)), "cudaMallocHost", count * sizeof(T));
    data_ = static_cast<T*>(address);
  }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace kith::KITH_BACKEND::inline runtime
