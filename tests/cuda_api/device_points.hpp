// device_points.hpp: what the tests of the public functions for device pointers share.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "kith/kith.hpp"

namespace kith::test {

inline void require_cuda(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// Skips, visibly, where there is no device.
class CudaApi : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<Backend> backends = available_backends();
    if (std::find(backends.begin(), backends.end(), Backend::cuda) == backends.end())
      GTEST_SKIP() << "there is no CUDA device here";
  }
};

// Device memory with a copy of what it was made of.
template <class T>
class DeviceValues {
 public:
  explicit DeviceValues(const std::vector<T>& values) : count_(values.size()) {
    require_cuda(cudaMalloc(&data_, count_ * sizeof(T)));
    require_cuda(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceValues(const DeviceValues&) = delete;
  DeviceValues& operator=(const DeviceValues&) = delete;
  ~DeviceValues() { cudaFree(data_); }

  T* data() const { return data_; }
  template <class V = T>
  MatrixView<V> view(std::int64_t rows, std::int64_t cols, std::int64_t stride = 0) const {
    return MatrixView<V>::on_device(data_, rows, cols, stride == 0 ? cols : stride);
  }
  // Waits for all that the device does.
  std::vector<T> values() const {
    std::vector<T> copied(count_);
    require_cuda(cudaDeviceSynchronize());
    require_cuda(cudaMemcpy(copied.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return copied;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

// rows × cols, with ties.
template <class T>
std::vector<T> some_values(std::int64_t rows, std::int64_t cols, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> steps(-500, 500);
  std::vector<T> values(static_cast<std::size_t>(rows * cols));
  for (T& value : values) value = static_cast<T>(steps(random)) / 256;
  return values;
}

// The same on the host and on the device: what a device would choose for itself is said.
inline Options method_options(Method method) {
  Options options;
  options.method = method;
  options.shifted_sort.curve = Curve::morton;
  return options;
}

// What gives the same answer on the host, which has no stages for devices and no budget of theirs.
inline Options host_options(Options options) {
  options.backend = Backend::cpu;
  options.memory_budget = 0;
  if (options.method != Method::shifted_sort) options.method = Method::brute;
  return options;
}

}  // namespace kith::test
