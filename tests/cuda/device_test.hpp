// device_test.hpp: what the tests of the device sources share, compiled for cuda and for emulated alike.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/runtime/workspace.hpp"

namespace kith::test {

namespace device = KITH_BACKEND;

#if defined(KITH_IS_EMULATED)
constexpr bool kEmulated = true;
// The orders in which threads, warps and blocks run; one of them on a device, which chooses its own.
constexpr std::uint64_t kSchedules = 3;
inline void set_schedule(std::uint64_t schedule) {
  ::emulator::set_seed(schedule + 1);
}
inline void forget_failures() {
  ::emulator::reset();
}
#else
constexpr bool kEmulated = false;
constexpr std::uint64_t kSchedules = 1;
inline void set_schedule(std::uint64_t /*schedule*/) {}
inline void forget_failures() {}
#endif

// Problems that an interpreter can take: always for the emulator, on a device when compute-sanitizer watches it.
inline bool small_problems() {
  static const bool small = kEmulated || std::getenv("KITH_TEST_SMALL") != nullptr;
  return small;
}

// Skips, visibly, where there is no device.
template <class Base>
class OnDevice : public Base {
 protected:
  void SetUp() override {
    if (device::devices().empty()) GTEST_SKIP() << "there is no CUDA device here";
    forget_failures();
    set_schedule(0);
  }
  void TearDown() override { forget_failures(); }
};

using DeviceTest = OnDevice<testing::Test>;

// compute-sanitizer takes its time: less has to do.
inline bool under_sanitizer() {
  return small_problems() && !kEmulated;
}

template <class Body>
void for_each_schedule(Body body) {
  for (std::uint64_t schedule = 0; schedule < kSchedules; ++schedule) {
    SCOPED_TRACE(testing::Message() << "schedule " << schedule);
    set_schedule(schedule);
    body();
  }
}

// Device memory of exactly the size of what it holds.
template <class T>
class DeviceArray {
 public:
  DeviceArray(const std::vector<T>& values, cudaStream_t stream) : buffer_(values.size(), stream), stream_(stream) {
    if (values.empty()) return;
    KITH_CUDA(
        cudaMemcpyAsync(buffer_.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
    KITH_CUDA(cudaStreamSynchronize(stream));
  }

  T* data() { return buffer_.data(); }
  const T* data() const { return buffer_.data(); }
  // Waits for the stream.
  std::vector<T> values() const {
    std::vector<T> values(buffer_.size());
    if (values.empty()) return values;
    KITH_CUDA(
        cudaMemcpyAsync(values.data(), buffer_.data(), values.size() * sizeof(T), cudaMemcpyDeviceToHost, stream_));
    KITH_CUDA(cudaStreamSynchronize(stream_));
    return values;
  }

 private:
  device::DeviceBuffer<T> buffer_;
  cudaStream_t stream_;
};

}  // namespace kith::test
