// Device memory that goes while another device is current stays the memory of its device.
#include <gtest/gtest.h>

#include <optional>

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/search_memory.hpp"
#include "cuda/runtime/stream.hpp"

namespace kith::test {
namespace {

namespace device = KITH_BACKEND;
using device::DeviceBuffer;
using device::KeepSpares;
using device::SearchMemory;

class BuffersOfDevices : public testing::Test {
 protected:
  void TearDown() override { set(0); }
  static void set(int id) { KITH_CUDA(cudaSetDevice(id)); }
};

// The default stream has one handle for all devices.
TEST_F(BuffersOfDevices, IsHandedOnToSearchesOfItsDevice) {
  set(1);
  const KeepSpares keeps_1;
  std::optional<DeviceBuffer<char>> of_1(std::in_place, 5000, nullptr);
  void* const memory = of_1->data();
  const SearchMemory search_1(nullptr, true);
  set(0);
  const KeepSpares keeps_0;
  const SearchMemory search_0(nullptr, true);
  of_1.reset();
  const DeviceBuffer<char> of_0(5000, nullptr);
  EXPECT_NE(of_0.data(), memory);
  set(1);
  const DeviceBuffer<char> again(5000, nullptr);
  EXPECT_EQ(again.data(), memory);
}

TEST_F(BuffersOfDevices, IsFreedByItsDevice) {
  std::optional<DeviceBuffer<int>> of_1;
  {
    set(1);
    of_1.emplace(1000, nullptr);
    KITH_CUDA(cudaMemsetAsync(of_1->data(), 1, 4000, nullptr));  // before it is freed, in the stream of device 1
  }
  set(0);
  of_1.reset();
  int current = -1;
  KITH_CUDA(cudaGetDevice(&current));
  EXPECT_EQ(current, 0);
  KITH_CUDA(cudaDeviceSynchronize());  // what device 0 has to do
  set(1);
  KITH_CUDA(cudaDeviceSynchronize());
}

}  // namespace
}  // namespace kith::test
