// device_memory.hpp: memory and streams of the device of a backend, for tests that are compiled without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kith/matrix.hpp"
#include "kith/options.hpp"

namespace kith::test {

struct DeviceMemory {
  void* (*allocate)(std::size_t bytes);
  void (*free)(void* memory);
  // Both wait for the whole device.
  void (*copy_to)(void* memory, const void* host, std::size_t bytes);
  void (*copy_from)(void* host, const void* memory, std::size_t bytes);
  void* (*make_stream)();
  void (*destroy_stream)(void* stream);
};

// Of cuda or emulated, where that is in this build and a device is there.
const DeviceMemory& memory_of(Backend backend);

// Values in host memory or, a copy of them, on a device.
template <class V>
class Placed {
 public:
  Placed(std::vector<V> values, Memory memory, Backend backend)
      : values_(std::move(values)), memory_(memory), backend_(backend) {
    if (memory == Memory::host) return;
    device_ = memory_of(backend).allocate(bytes());
    memory_of(backend).copy_to(device_, values_.data(), bytes());
  }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;
  ~Placed() {
    if (device_ != nullptr) memory_of(backend_).free(device_);
  }

  V* data() { return device_ == nullptr ? values_.data() : static_cast<V*>(device_); }
  Memory memory() const { return memory_; }
  template <class T = V>
  MatrixView<T> view(std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t col_stride = 1) {
    return {data(), rows, cols, row_stride, col_stride, memory_};
  }
  // What is there when the device has done all it was told.
  const std::vector<V>& values() {
    if (device_ != nullptr) memory_of(backend_).copy_from(values_.data(), device_, bytes());
    return values_;
  }

 private:
  std::size_t bytes() const { return values_.size() * sizeof(V); }

  std::vector<V> values_;
  Memory memory_;
  Backend backend_;
  void* device_ = nullptr;
};

}  // namespace kith::test
