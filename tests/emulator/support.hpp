// support.hpp: device memory with values, kernels under many seeds.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"

namespace kith::test {

using emulated::kFullMask;
using emulated::launch;

// Every test starts on an sm_90 without failures and with a seed of its own, and leaves the device in order.
class EmulatorTest : public testing::Test {
 protected:
  void SetUp() override {
    ::emulator::set_chip("sm_90");
    ::emulator::reset();
    ::emulator::set_seed(1);
  }
  void TearDown() override { ::emulator::reset(); }
};

template <class T>
class DeviceValues {
 public:
  explicit DeviceValues(std::size_t count) : count_(count) {
    EXPECT_EQ(cudaMalloc(&data_, count * sizeof(T)), cudaSuccess);
  }
  explicit DeviceValues(const std::vector<T>& values) : DeviceValues(values.size()) {
    EXPECT_EQ(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  DeviceValues(const DeviceValues&) = delete;
  DeviceValues& operator=(const DeviceValues&) = delete;
  ~DeviceValues() { cudaFree(data_); }

  T* data() { return data_; }
  std::vector<T> values() {
    std::vector<T> values(count_);
    EXPECT_EQ(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

// How many of the seeds 1 … 20 give a right answer.
constexpr int kSeeds = 20;

template <class IsRight>
int right_seeds(IsRight is_right) {
  int right = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ::emulator::set_seed(seed);
    right += is_right() ? 1 : 0;
  }
  return right;
}

// The text of the failure that the launches before this must have caused.
inline std::string failure() {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  return ::emulator::last_failure();
}

inline void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
}

#if defined(__SANITIZE_ADDRESS__)
#define KITH_NEEDS_ASAN() (void)0
#else
#define KITH_NEEDS_ASAN() GTEST_SKIP() << "only AddressSanitizer sees this"
#endif

}  // namespace kith::test
